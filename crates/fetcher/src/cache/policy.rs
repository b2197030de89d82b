//! How long HTTP lets an answer be used.

use std::time::SystemTime;

use http::{HeaderMap, Request, Response, StatusCode};
use http_cache_semantics::{CacheOptions, CachePolicy};

/// What may be done with an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lifetime {
    /// It must not be kept (`no-store`).
    DoNotKeep,
    /// It may be used for so many seconds, then it must be confirmed.
    Seconds(u64),
}

/// That a project is not on an index seldom changes, and indexes say nothing about how long it holds: as long as PyPI
/// lets its pages be used. Without this each warm run would ask every further index for every project.
const ABSENT: u64 = 600;

/// However far a server looks ahead: no page of an index is used for longer than this without asking again.
pub(crate) const LONGEST: u64 = 7 * 24 * 3600;

/// The lifetime that the headers of an answer give it.
pub(crate) fn lifetime(status: StatusCode, headers: &HeaderMap) -> Lifetime {
    let now = SystemTime::now();
    let request = Request::new(());
    let mut response = Response::new(());
    // "Not modified" renews the answer that was kept, which was a success.
    let renewed = status == StatusCode::NOT_MODIFIED;
    *response.status_mut() = if renewed { StatusCode::OK } else { status };
    *response.headers_mut() = headers.clone();
    let options = CacheOptions { shared: false, ..CacheOptions::default() };
    let policy = CachePolicy::new_options(&request, &response, now, options);
    // 403 is no status that caches keep, but here it is only kept where the index uses it for "not here".
    let absent = status.is_client_error();
    let may_keep = if absent { !says(headers, "no-store") } else { policy.is_storable() };
    if !may_keep {
        return Lifetime::DoNotKeep;
    }
    let stated = policy.time_to_live(now).as_secs();
    let least = if absent && !says(headers, "no-cache") { ABSENT } else { 0 };
    Lifetime::Seconds(stated.max(least).min(LONGEST))
}

fn says(headers: &HeaderMap, directive: &str) -> bool {
    headers
        .get_all(http::header::CACHE_CONTROL)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .any(|value| value.split(',').any(|part| part.trim().eq_ignore_ascii_case(directive)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(status: u16, pairs: &[(&'static str, &str)]) -> Lifetime {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.insert(*name, value.parse().expect("a header value"));
        }
        lifetime(StatusCode::from_u16(status).expect("a status"), &headers)
    }

    #[test]
    fn headers_give_the_lifetime() {
        for (status, headers, expected) in [
            (
                200,
                &[("cache-control", "max-age=600, public, must-revalidate")][..],
                Lifetime::Seconds(600),
            ),
            (200, &[("cache-control", "private, max-age=60")][..], Lifetime::Seconds(60)),
            (200, &[("cache-control", "max-age=600"), ("age", "100")][..], Lifetime::Seconds(500)),
            (200, &[("cache-control", "no-cache")][..], Lifetime::Seconds(0)),
            (200, &[("cache-control", "no-cache, no-store")][..], Lifetime::DoNotKeep),
            (200, &[("cache-control", "max-age=999999999")][..], Lifetime::Seconds(LONGEST)),
            (200, &[][..], Lifetime::Seconds(0)),
            (304, &[("cache-control", "max-age=600")][..], Lifetime::Seconds(600)),
            (404, &[][..], Lifetime::Seconds(ABSENT)),
            (403, &[][..], Lifetime::Seconds(ABSENT)),
            (403, &[("cache-control", "no-store")][..], Lifetime::DoNotKeep),
            (404, &[("cache-control", "no-cache")][..], Lifetime::Seconds(0)),
        ] {
            assert_eq!(of(status, headers), expected, "{status} {headers:?}");
        }
    }
}
