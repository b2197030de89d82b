//! The public indexes that are known by default: their names, addresses, and what is taken from each.

use pep440_rs::Version as Pep440;

use super::build::Origin;
use super::rule::Rule;
use super::torch::backend_cuda;
use crate::constraint::Fact;
use crate::matrix;
use crate::matrix::rows::indexes::{Channel, Index, Kind};
use crate::name::Name;

const PLACEHOLDER: &str = "{backend}";

/// A known index, with its backend filled in.
#[derive(Clone, Debug)]
pub struct Known {
    /// Name: `pypi`, `pytorch-cu128`, `onnxruntime-cuda-12`.
    pub name: String,
    /// Address, ending in `/` unless it is a flat page.
    pub url: String,
    /// The backend, on PyTorch's indexes.
    pub backend: Option<String>,
    /// Everything else about it.
    pub row: &'static Index,
}

impl Known {
    fn new(row: &'static Index, backend: Option<&str>) -> Self {
        let fill = |text: &str| text.replace(PLACEHOLDER, backend.unwrap_or_default());
        Self {
            name: fill(&row.name),
            url: fill(&row.url),
            backend: backend.map(str::to_owned),
            row,
        }
    }

    /// Whose builds come from here.
    #[must_use]
    pub fn origin(&self) -> Origin<'_> {
        match self.row.kind {
            Kind::Pypi => Origin::PyPi,
            Kind::Pytorch => {
                Origin::PyTorch { backend: self.backend.as_deref().unwrap_or_default() }
            }
            Kind::Onnxruntime => Origin::OrtFeed { name: &self.row.name },
            Kind::Nvidia => Origin::Other,
        }
    }

    /// Whether `distribution` is taken from here.
    #[must_use]
    pub fn serves(&self, distribution: Name) -> bool {
        serves(self.row, distribution)
    }
}

/// Every row: for indexes that have a backend in their address, one row stands for all of them.
#[must_use]
pub fn rows() -> &'static [Index] {
    &matrix::indexes().index
}

/// PyPI.
#[must_use]
pub fn pypi() -> Option<Known> {
    by_name("pypi")
}

/// PyTorch's index for a backend. A backend that no row names is addressed the same way; `None` for a text that is no
/// backend at all.
#[must_use]
pub fn pytorch(backend: &str) -> Option<Known> {
    backend_cuda(backend)?;
    let row = rows().iter().find(|row| row.kind == Kind::Pytorch && is_pattern(row))?;
    Some(Known::new(row, Some(backend)))
}

/// The backends that PyTorch's indexes are known to have.
#[must_use]
pub fn pytorch_backends() -> &'static [String] {
    let row = rows().iter().find(|row| row.kind == Kind::Pytorch && is_pattern(row));
    row.map_or(&[], |row| &row.backends)
}

/// The known indexes beside PyPI: PyTorch's for each of `backends`, and those that exist for single distributions.
pub fn beside_pypi<'b>(
    backends: impl IntoIterator<Item = &'b String>,
) -> impl Iterator<Item = Known> {
    let of_pytorch = backends.into_iter().filter_map(|backend| pytorch(backend));
    let others = rows().iter().filter(|row| {
        matches!(row.kind, Kind::Onnxruntime | Kind::Nvidia) && row.channel == Channel::Release
    });
    of_pytorch.chain(others.filter_map(|row| by_name(&row.name)))
}

/// An index by its name: `pypi`, `pytorch-cu128`, `onnxruntime-cuda-12`.
#[must_use]
pub fn by_name(name: &str) -> Option<Known> {
    find(|row| std::slice::from_ref(&row.name), name)
}

/// The index at an address, mirrors included. A missing slash at the end does not matter.
#[must_use]
pub fn by_url(url: &str) -> Option<Known> {
    let url = url.trim_end_matches('/');
    find(|row| std::slice::from_ref(&row.url), url).or_else(|| find(|row| &row.mirrors, url))
}

fn find(texts: impl Fn(&'static Index) -> &'static [String], wanted: &str) -> Option<Known> {
    rows().iter().find_map(|row| {
        texts(row).iter().find_map(|text| {
            let text = text.trim_end_matches('/');
            match text.split_once(PLACEHOLDER) {
                None => (text == wanted).then(|| Known::new(row, None)),
                Some((before, after)) => {
                    let backend = wanted.strip_prefix(before)?.strip_suffix(after)?;
                    backend_cuda(backend)?;
                    Some(Known::new(row, Some(backend)))
                }
            }
        })
    })
}

/// The rows of indexes from which a distribution is taken, those that serve everything left out.
#[must_use]
pub fn special_for(distribution: Name) -> Vec<&'static Index> {
    let special = |row: &&Index| !row.distributions.is_empty() && serves(row, distribution);
    rows().iter().filter(special).collect()
}

fn serves(row: &Index, distribution: Name) -> bool {
    row.distributions.is_empty() || row.distributions.contains(&distribution)
}

fn is_pattern(row: &Index) -> bool {
    row.url.contains(PLACEHOLDER)
}

/// Whether the index of that name once listed the builds of a backend, and lists them no more.
#[must_use]
pub fn is_gone(index: &str, backend: &str) -> bool {
    let row = rows().iter().find(|row| row.name == index);
    row.is_some_and(|row| row.gone.iter().any(|gone| gone == backend))
}

/// Where a release is that is on another index than PyPI.
#[must_use]
pub fn only_there(name: Name, version: &Pep440) -> Option<Fact> {
    let mut rows = matrix::indexes().only_there.of(name).iter();
    let row = rows.find(|row| row.versions.contains(version))?;
    Some(Fact {
        rule: Rule::StrayWheel,
        text: row.text.clone(),
        sources: row.source.clone(),
        symptom: None,
    })
}

/// Why an index cannot have a distribution: everything that it may list is known.
#[must_use]
pub fn does_not_list(index: &str, name: Name) -> Option<Fact> {
    let row = matrix::indexes().listing.iter().find(|row| is_index(&row.index, index))?;
    let listed = row.names.contains(&name);
    (!listed).then(|| Fact {
        rule: Rule::StrayWheel,
        text: row.text.clone(),
        sources: row.source.clone(),
        symptom: None,
    })
}

/// Why a nightly build is not there any more.
#[must_use]
pub fn nightly_gone(address: &str, version: &Pep440) -> Option<Fact> {
    let row = matrix::indexes().nightly.iter().find(|row| address.contains(&row.path))?;
    let day = version.dev().filter(|day| *day >= 20_000_000 && *day < row.oldest)?;
    Some(Fact {
        rule: Rule::DeletedRelease,
        text: format!("{}, and this one is of {day}", row.text),
        sources: row.source.clone(),
        symptom: None,
    })
}

/// The wheel that `torch` pins and that an index is known to have lost, with the fact.
#[must_use]
pub fn lost(index: &str, backend: Option<&str>, torch: &Pep440) -> Option<(Name, Pep440, Fact)> {
    let row = matrix::indexes().lost.iter().find(|row| {
        let same = match backend {
            Some(backend) => {
                is_index(&row.index, index) && row.backends.iter().any(|b| b == backend)
            }
            None => row.index == index,
        };
        same && row.torch.contains(torch)
    })?;
    let fact = Fact {
        rule: Rule::LostWheel,
        text: row.text.clone(),
        sources: row.source.clone(),
        symptom: Some(format!(
            "ERROR: Could not find a version that satisfies the requirement {}=={}",
            row.wheel, row.version
        )),
    };
    Some((row.wheel, row.version.clone(), fact))
}

/// Whether `index` is the index that a row names, its backend left open.
fn is_index(row: &str, index: &str) -> bool {
    row == index || row.split_once(PLACEHOLDER).is_some_and(|(before, _)| index.starts_with(before))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backend_of_tomorrow_needs_no_row() {
        let known = pytorch("cu140").expect("a backend");
        assert_eq!(known.name, "pytorch-cu140");
        assert!(known.url.ends_with("/cu140/"));
        assert_eq!(known.origin(), Origin::PyTorch { backend: "cu140" });
        assert!(!pytorch_backends().contains(&"cu140".to_owned()));
        assert!(pytorch("nightly").is_none() && pytorch("cu1/../x").is_none());
    }

    #[test]
    fn addresses_and_names_lead_back_to_their_index() {
        for row in rows() {
            let known = Known::new(row, is_pattern(row).then_some("cu118"));
            for url in [known.url.clone(), known.url.trim_end_matches('/').to_owned()] {
                assert_eq!(by_url(&url).map(|k| k.name), Some(known.name.clone()), "{url}");
            }
            for mirror in &row.mirrors {
                let url = mirror.replace(PLACEHOLDER, "cu118");
                assert_eq!(by_url(&url).map(|k| k.name), Some(known.name.clone()), "{url}");
            }
            assert_eq!(by_name(&known.name).map(|k| k.url), Some(known.url));
        }
        assert!(by_url("https://index.example/simple/").is_none());
    }

    #[test]
    fn what_an_index_cannot_have_is_known() {
        let lists =
            |name: &str| does_not_list("pytorch-cu118", Name::new(name).expect("valid")).is_none();
        assert!(lists("torch") && lists("nvidia-cudnn-cu12") && lists("typing-extensions"));
        assert!(!lists("diffusers") && !lists("onnxruntime-gpu"));
        assert!(does_not_list("corp", Name::new("diffusers").expect("valid")).is_none());
        let gone = |text: &str| {
            nightly_gone("https://index.example/whl/nightly/cu121", &text.parse().expect("valid"))
                .is_some()
        };
        assert!(gone("2.1.0.dev20230801+cu121"));
        assert!(!gone("2.16.0.dev20261120+cu132") && !gone("2.1.0+cu121"));
    }

    #[test]
    fn distributions_are_routed() {
        let kinds = |name: &str| -> Vec<Kind> {
            let name = Name::new(name).expect("valid");
            special_for(name).iter().map(|row| row.kind).collect()
        };
        assert_eq!(kinds("torchvision"), [Kind::Pytorch, Kind::Pytorch]);
        assert!(kinds("onnxruntime-gpu").iter().all(|kind| *kind == Kind::Onnxruntime));
        assert!(kinds("numpy").is_empty());
        let torch = Name::new("torch").expect("valid");
        assert!(
            pypi().expect("a row").serves(torch) && pytorch("cpu").expect("a row").serves(torch)
        );
    }
}
