use super::*;

fn at(text: &str, needle: &str) -> Diagnostic {
    let source = Source::new("env.toml", text);
    let start = source.text().find(needle).expect("needle");
    Diagnostic::error(&source, "this is wrong").at(start..start + needle.len()).help("do that")
}

#[test]
fn a_snippet_shows_the_line_the_caret_and_the_help() {
    let d = at("[machine]\ndriver = \"x\" # old\n", "\"x\"").label("here");
    insta::assert_snapshot!(d.render(Style::Plain), @r#"
    error: this is wrong
     --> env.toml:2:10
      |
    2 | driver = "x" # old
      |          ^^^ here
      |
      = help: do that
    "#);
    assert_eq!(d.one_line(), "env.toml:2:10: error: this is wrong");
    assert!(d.render(Style::Color).contains('\u{1b}'));
    assert!(!d.render(Style::Plain).contains('\u{1b}'));
}

#[test]
fn columns_count_characters_whatever_the_line_ends_tabs_and_marks() {
    for (text, line, column) in [
        ("a = 1\nXX", 2, 1),
        ("a = 1\r\n  XX\r\n", 2, 3),
        ("\u{feff}XX = 1", 1, 1),
        ("\tXX", 1, 2),
        ("é漢🦀XX", 1, 4),
        ("XX", 1, 1),
    ] {
        let d = at(text, "XX");
        assert_eq!(d.position(), Some(Position { line, column }), "{text:?}");
        let place = format!("--> env.toml:{line}:{column}\n");
        assert!(d.render(Style::Plain).contains(&place), "{}", d.render(Style::Plain));
    }
}

#[test]
fn carriage_returns_and_tabs_do_not_reach_the_output() {
    let d = at("\tkey\t= \"é\" XX\r\nnext = 1\r\n", "XX");
    insta::assert_snapshot!(d.render(Style::Plain), @r#"
    error: this is wrong
     --> env.toml:1:12
      |
    1 |     key    = "é" XX
      |                  ^^
      |
      = help: do that
    "#);
}

#[test]
fn a_span_over_several_lines_shows_the_first() {
    let d = at("a = [\n  1,\n]\n", "[\n  1,\n]");
    insta::assert_snapshot!(d.render(Style::Plain), @"
    error: this is wrong
     --> env.toml:1:5
      |
    1 | a = [
      |     ^
      |
      = help: do that
    ");
}

#[test]
fn a_span_past_the_end_is_moved_to_the_end() {
    let source = Source::new("f", "ab\n");
    let d = Diagnostic::error(&source, "m").at(90..99);
    assert_eq!(d.position(), Some(Position { line: 2, column: 1 }));
    assert!(!d.render(Style::Plain).is_empty());
    let empty = Diagnostic::error(&Source::new("f", ""), "m").at(0..0);
    insta::assert_snapshot!(empty.render(Style::Plain), @"
    error: m
     --> f:1:1
      |
    1 |
      | ^
    ");
}

#[test]
fn a_file_as_a_whole_has_no_line() {
    let d = Diagnostic::error(&Source::new("env.toml", ""), "the file is empty").help("run init");
    insta::assert_snapshot!(d.render(Style::Plain), @"
    error: the file is empty
    --> env.toml
     = help: run init
    ");
    assert_eq!(d.one_line(), "env.toml: error: the file is empty");
}

#[test]
fn credentials_and_escape_sequences_of_a_file_are_not_printed() {
    let d = at("url = \"https://ué:s3cret@corp.example/x\" XX", "XX");
    let text = d.render(Style::Plain);
    assert!(!text.contains("s3cret"), "{text}");
    insta::assert_snapshot!(text, @r#"
    error: this is wrong
     --> env.toml:1:42
      |
    1 | url = "https://*********@corp.example/x" XX
      |                                          ^^
      |
      = help: do that
    "#);
    let d = Diagnostic::error(&Source::new("f", ""), "key '\u{1b}[31m' at https://a:b@c.example");
    assert_eq!(d.message(), "key '\\u{1b}[31m' at https://***@c.example");
}

#[test]
fn other_encodings_are_named() {
    let utf16: Vec<u8> = "a = 1".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let error = Source::decode("env.toml", &utf16).expect_err("UTF-16");
    assert_eq!(error.message(), "the file is UTF-16, expected UTF-8");
    let mut marked = vec![0xff, 0xfe];
    marked.extend(&utf16);
    assert!(Source::decode("env.toml", &marked).is_err());
    let error =
        Source::decode("env.toml", b"\xef\xbb\xbfa = 1\nb = \"caf\xe9\"\n").expect_err("Latin-1");
    assert_eq!(error.one_line(), "env.toml:2:9: error: byte 0xe9 is not valid UTF-8");
    assert!(Source::decode("env.toml", b"").is_ok());
}

#[test]
fn messages_come_in_the_order_of_the_file() {
    let source = Source::new("f", "ab");
    let list = Diagnostics::new(vec![
        Diagnostic::error(&source, "two").at(1..2),
        Diagnostic::error(&source, "one").at(0..1),
    ]);
    assert_eq!(list.to_string(), "f:1:1: error: one\nf:1:2: error: two");
}
