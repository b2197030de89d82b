//! The name that was probably meant by one that no index has.

use crate::matrix;
use crate::name::Name;
use crate::nearest::nearest;
use crate::solve::problem::Problem;

/// The known distribution nearest to `name`: at most one edit in four characters. Known are the distributions that the
/// matrices speak of, and the others that env.toml asks for.
#[must_use]
pub fn nearest_name(name: Name, problem: &Problem) -> Option<String> {
    let asked = problem.requirements.iter().map(|requirement| requirement.name.as_str());
    nearest_of(name.as_str(), families().chain(asked)).map(str::to_owned)
}

/// The name nearest to `word` among others: at most one slip in four characters.
#[must_use]
pub fn nearest_of<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    nearest(word, known, (word.len() / 4).max(1))
}

/// Every distribution that a matrix names.
fn families() -> impl Iterator<Item = &'static str> {
    let companions = matrix::companions().family.names();
    let owners = matrix::owners();
    let owned =
        owners.owner.iter().flat_map(|row| row.distributions.iter().map(|name| name.as_str()));
    let dependents = owners.dependent.names();
    let served = matrix::indexes()
        .index
        .iter()
        .flat_map(|row| row.distributions.iter().map(|name| name.as_str()));
    let wheels = matrix::onnxruntime().wheel.iter().map(|row| row.wheel.as_str());
    companions.chain(owned).chain(dependents).chain(served).chain(wheels)
}
