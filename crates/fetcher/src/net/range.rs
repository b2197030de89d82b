//! `Range` and `Content-Range` (RFC 9110, section 14).

use http::HeaderMap;
use http::header::CONTENT_RANGE;

/// Bytes of a file that are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Range {
    /// The last so many.
    Last(u64),
    /// From the first position up to, not including, the second.
    From(u64, u64),
}

impl Range {
    /// As the header says it.
    pub(crate) fn header(self) -> String {
        match self {
            Self::Last(count) => format!("bytes=-{count}"),
            Self::From(start, end) => format!("bytes={start}-{}", end.saturating_sub(1)),
        }
    }
}

/// Which part of a file an answer holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ContentRange {
    /// The position of its first byte.
    pub(crate) start: u64,
    /// The length of the whole file.
    pub(crate) total: u64,
}

impl ContentRange {
    /// Reads the header of an answer whose body has `length` bytes. `None` when it does not fit: some servers answer 206
    /// with a range that is not the one they send.
    pub(crate) fn read(headers: &HeaderMap, length: u64) -> Option<Self> {
        let text = headers.get(CONTENT_RANGE)?.to_str().ok()?;
        let (range, total) = text.trim().strip_prefix("bytes")?.trim_start().split_once('/')?;
        let (start, last) = range.split_once('-')?;
        let start: u64 = start.trim().parse().ok()?;
        let last: u64 = last.trim().parse().ok()?;
        let total: u64 = total.trim().parse().ok()?;
        let fits = last < total && last.checked_sub(start)?.checked_add(1)? == length;
        fits.then_some(Self { start, total })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ranges_that_fit_are_taken() {
        let read = |text: &str, length| {
            let mut headers = HeaderMap::new();
            headers.insert(CONTENT_RANGE, text.parse().expect("a header value"));
            ContentRange::read(&headers, length)
        };
        assert_eq!(read("bytes 90-99/100", 10), Some(ContentRange { start: 90, total: 100 }));
        for text in [
            "bytes 90-99/*",
            "bytes 90-98/100",
            "bytes 90-99/99",
            "bytes */100",
            "9-1",
            "bytes 9-1/2",
        ] {
            assert_eq!(read(text, 10), None, "{text}");
        }
        assert_eq!(Range::Last(5).header(), "bytes=-5");
        assert_eq!(Range::From(1, 5).header(), "bytes=1-4");
    }
}
