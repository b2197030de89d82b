//! The name that was probably meant by one that no index has.

use crate::matrix;
use crate::name::Name;
use crate::solve::problem::Problem;

/// The known distribution nearest to `name`: at most one edit in four characters. Known are the distributions that the
/// matrices speak of, and the others that env.toml asks for.
#[must_use]
pub fn nearest_name(name: Name, problem: &Problem) -> Option<String> {
    let asked = problem.requirements.iter().map(|requirement| requirement.name.as_str());
    nearest_of(name.as_str(), families().chain(asked)).map(str::to_owned)
}

/// The word nearest to `word` among others: at most one edit in four characters.
#[must_use]
pub fn nearest_of<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let most = (word.len() / 4).max(1);
    known
        .into_iter()
        .filter(|known| *known != word && known.len().abs_diff(word.len()) <= most)
        .map(|known| (strsim::damerau_levenshtein(word, known), known))
        .filter(|(distance, _)| *distance <= most)
        .min_by_key(|(distance, known)| (*distance, *known))
        .map(|(_, known)| known)
}

/// Every distribution that a matrix names.
fn families() -> impl Iterator<Item = &'static str> {
    let companions = matrix::companions().family.iter().map(|row| row.name.as_str());
    let owners = matrix::owners();
    let owned = owners.owner.iter().flat_map(|row| row.distributions.iter().map(String::as_str));
    let dependents = owners.dependent.iter().map(|row| row.name.as_str());
    let served =
        matrix::indexes().index.iter().flat_map(|row| row.distributions.iter().map(String::as_str));
    let wheels = matrix::onnxruntime().wheel.iter().map(|row| row.wheel.as_str());
    companions.chain(owned).chain(dependents).chain(served).chain(wheels)
}
