//! The known word that a misspelt one was probably meant to be.

/// The candidate nearest to `word`, when it is near enough to be a slip: at most one edit in three characters, rounded up.
#[must_use]
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let most = word.chars().count().div_ceil(3);
    cuda_lock_constraint::nearest::nearest(word, candidates, most)
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
