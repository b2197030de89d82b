//! Index pages: JSON and HTML, from bytes to releases.

use cuda_lock_benches::Recorded;
use cuda_lock_constraint::name::Name;
use cuda_lock_fetcher::page::parse_page;
use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use url::Url;

fn main() {
    divan::main();
}

const JSON: &str = "application/vnd.pypi.simple.v1+json";
const HTML: &str = "text/html";

fn read(bencher: Bencher<'_, '_>, project: &str, accept: &str) {
    let recorded = Recorded::new();
    let body = recorded.page(project, accept);
    let url = recorded.url().parse::<Url>().and_then(|url| url.join(project));
    let (Ok(url), Ok(name)) = (url, Name::new(project)) else { return };
    bencher
        .counter(BytesCount::new(body.len()))
        .bench(|| parse_page(Some(accept), black_box(&body), &url, name).is_ok());
}

#[divan::bench(args = ["torch", "numpy", "transformers"])]
fn json(bencher: Bencher<'_, '_>, project: &str) {
    read(bencher, project, JSON);
}

#[divan::bench(args = ["torch", "numpy", "transformers"])]
fn html(bencher: Bencher<'_, '_>, project: &str) {
    read(bencher, project, HTML);
}
