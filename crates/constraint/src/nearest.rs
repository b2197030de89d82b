//! The known word that a misspelt one was probably meant to be.

/// The word among `known` that is nearest to `word`, when no more than `most` slips lie between them: a letter too many, one
/// too few, another one, or two that changed places. Case and the choice between `-` and `_` are no slips. Of equally near
/// words it is the first by the alphabet.
///
/// How many slips to allow depends on the words: the keys of a file are few and look unlike each other, the names of
/// distributions are many and alike.
#[must_use]
pub fn nearest<'a>(
    word: &str,
    known: impl IntoIterator<Item = &'a str>,
    most: usize,
) -> Option<&'a str> {
    let fold = |text: &str| text.to_lowercase().replace('_', "-");
    let folded = fold(word);
    known
        .into_iter()
        // Comparing takes the product of the lengths, so what is far too long is not compared.
        .filter(|known| *known != word && known.len().abs_diff(word.len()) <= most)
        .map(|known| (strsim::damerau_levenshtein(&folded, &fold(known)), known))
        .filter(|(distance, _)| *distance <= most)
        .min()
        .map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn slips_are_counted() {
        let words = ["driver", "exclude-newer", "drive"];
        assert_eq!(nearest("drivr", words, 1), Some("drive"));
        assert_eq!(nearest("Exclude_Newer", words, 0), Some("exclude-newer"));
        assert_eq!(nearest("dirver", words, 1), Some("driver"));
        assert_eq!(nearest("drvr", words, 1), None);
        assert_eq!(nearest("driver", ["driver"], 3), None, "a known word is no slip");
    }
}
