//! The known word that a misspelt one was probably meant to be.

/// The candidate nearest to `word`, when it is near enough to be a slip: at most one edit in three characters, rounded up. Case and
/// the choice between `-` and `_` do not count as edits. Of two equally near ones the first is taken.
#[must_use]
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let fold = |text: &str| text.to_lowercase().replace('_', "-");
    // Comparing takes the product of the lengths; nobody misspells a key by a hundred characters.
    if word.len() > 100 {
        return None;
    }
    let word = fold(word);
    let most = word.chars().count().div_ceil(3);
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&word, &fold(candidate)), candidate))
        .filter(|(distance, _)| *distance <= most)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn slips_are_found_and_other_words_are_not() {
        let keys = ["driver", "dependencies", "exclude-newer", "gpus"];
        assert_eq!(nearest("drivr", keys), Some("driver"));
        assert_eq!(nearest("Exclude_Newer", keys), Some("exclude-newer"));
        assert_eq!(nearest("gpu", keys), Some("gpus"));
        assert_eq!(nearest("pipy", ["pypi"]), Some("pypi"));
        assert_eq!(nearest("colour", keys), None);
        assert_eq!(nearest("", keys), None);
        assert_eq!(nearest(&"d".repeat(1_000_000), keys), None);
    }
}
