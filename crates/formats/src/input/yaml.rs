//! The part of YAML that conda environments and CI files are written in, with the place of every scalar.
//!
//! Block mappings and sequences, flow collections, quoted, plain and block scalars, comments, anchors, aliases and merge
//! keys are read. Tags are skipped, and of several documents all mappings are read as one. What is not understood becomes a
//! problem or a scalar; nothing is fatal, because the lines around it can be judged all the same.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::model::Span;
use super::syntax_error::SyntaxError;
use super::text::{LineEnds, Mapped, lines};

/// Deeper nesting than anyone writes.
const MAX_DEPTH: usize = 64;

/// A node of the tree.
#[derive(Clone, Debug)]
pub(super) enum Node {
    Null(Span),
    Scalar(Mapped),
    Seq(Vec<Rc<Node>>, Span),
    Map(Vec<(Mapped, Rc<Node>)>, Span),
}

impl Node {
    /// The value of a key, also where a merge key brings it.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.get_within(key, 0)
    }

    fn get_within(&self, key: &str, depth: usize) -> Option<&Node> {
        let Self::Map(entries, _) = self else { return None };
        let own = entries.iter().find(|(k, _)| k.as_str() == key).map(|(_, v)| v.as_ref());
        own.or_else(|| {
            let merged = entries.iter().find(|(k, _)| k.as_str() == "<<").filter(|_| depth < 8)?;
            match merged.1.as_ref() {
                Self::Seq(all, _) => {
                    all.iter().take(16).find_map(|one| one.get_within(key, depth + 1))
                }
                one => one.get_within(key, depth + 1),
            }
        })
    }

    /// The text, when this is a scalar.
    pub fn scalar(&self) -> Option<&Mapped> {
        match self {
            Self::Scalar(text) => Some(text),
            _ => None,
        }
    }

    /// The items of a sequence; anything else but nothing is its only item.
    pub fn items(&self) -> Vec<&Node> {
        match self {
            Self::Seq(items, _) => items.iter().map(Rc::as_ref).collect(),
            Self::Null(_) => Vec::new(),
            other => vec![other],
        }
    }

    /// The keys and values of a mapping.
    pub fn entries(&self) -> &[(Mapped, Rc<Node>)] {
        match self {
            Self::Map(entries, _) => entries,
            _ => &[],
        }
    }

    /// Where it stands.
    pub fn span(&self) -> Span {
        match self {
            Self::Null(span) | Self::Seq(_, span) | Self::Map(_, span) => *span,
            Self::Scalar(text) => text.whole(),
        }
    }
}

/// Parses `text`, the text of `file`. Errors have the place in the text.
pub(super) fn parse(text: &str, file: usize) -> (Node, Vec<SyntaxError>) {
    let mut reader = Reader {
        text,
        file,
        lines: lines(text, LineEnds::Plain)
            .into_iter()
            .map(|(start, line)| Line::new(start, line))
            .collect(),
        at: 0,
        errors: Vec::new(),
        anchors: BTreeMap::new(),
    };
    let mut documents = Vec::new();
    while reader.next_line().is_some() {
        let before = reader.at;
        let node = reader.block(0, 0);
        match node.as_ref() {
            Node::Map(entries, _) => documents.extend(entries.iter().cloned()),
            other if documents.is_empty() && reader.next_line().is_none() => {
                return (other.clone(), reader.errors);
            }
            _ => {}
        }
        if reader.at == before {
            if let Some(line) = reader.lines.get(before) {
                let at = line.start..line.start + line.text.len();
                reader
                    .errors
                    .push(SyntaxError::new(at, "this line does not fit the lines around it"));
            }
            reader.at += 1;
        }
    }
    (Node::Map(documents, Span { file, start: 0, end: text.len() }), reader.errors)
}

/// A line, or what is left of it. `start` and `text` are without indentation.
#[derive(Clone, Copy, Debug)]
struct Line<'t> {
    indent: usize,
    start: usize,
    text: &'t str,
}

impl<'t> Line<'t> {
    fn new(start: usize, line: &'t str) -> Self {
        let text = line.trim_start_matches([' ', '\t']);
        let indent = line.len() - text.len();
        Self { indent, start: start + indent, text: text.trim_end() }
    }

    fn is_blank(&self) -> bool {
        self.text.is_empty() || self.text.starts_with('#')
    }

    /// The rest after `skip` bytes, as a line of its own that is indented as deep as it stands.
    fn rest(&self, skip: usize) -> Self {
        let after = self.text.get(skip..).unwrap_or_default();
        let text = after.trim_start_matches([' ', '\t']);
        let moved = self.text.len() - text.len();
        Self { indent: self.indent + moved, start: self.start + moved, text }
    }

    fn is_item(&self) -> bool {
        self.text == "-" || self.text.starts_with("- ") || self.text.starts_with("-\t")
    }
}

struct Reader<'t> {
    text: &'t str,
    file: usize,
    lines: Vec<Line<'t>>,
    at: usize,
    errors: Vec<SyntaxError>,
    anchors: BTreeMap<&'t str, Rc<Node>>,
}

impl<'t> Reader<'t> {
    /// The next line with something on it.
    fn next_line(&mut self) -> Option<Line<'t>> {
        while let Some(line) = self.lines.get(self.at) {
            let marker = line.indent == 0
                && (line.text == "---" || line.text == "..." || line.text.starts_with('%'));
            if !line.is_blank() && !marker {
                return Some(*line);
            }
            self.at += 1;
        }
        None
    }

    fn error(&mut self, start: usize, end: usize, message: &str) {
        self.errors.push(SyntaxError::new(start..end, message));
    }

    fn empty(&self, at: usize) -> Rc<Node> {
        Rc::new(Node::Null(Span { file: self.file, start: at, end: at }))
    }

    /// The node that starts on the next line, if that is indented by at least `least`.
    fn block(&mut self, least: usize, depth: usize) -> Rc<Node> {
        let Some(line) = self.next_line() else { return self.empty(self.text.len()) };
        if line.indent < least {
            return self.empty(line.start);
        }
        if depth > MAX_DEPTH {
            self.error(line.start, line.start + line.text.len(), "nested too deep");
            self.at += 1;
            return self.empty(line.start);
        }
        if line.is_item() {
            self.sequence(line.indent, depth)
        } else if key_end(line.text).is_some() {
            self.mapping(line.indent, depth)
        } else {
            self.at += 1;
            self.value(line, least.max(1) - 1, depth)
        }
    }

    fn sequence(&mut self, indent: usize, depth: usize) -> Rc<Node> {
        let mut items = Vec::new();
        let start = self.next_line().map_or(0, |line| line.start);
        let mut end = start;
        while let Some(line) = self.next_line().filter(|l| l.indent == indent && l.is_item()) {
            let rest = line.rest(1);
            let node = if rest.is_blank() {
                self.at += 1;
                self.block(indent + 1, depth + 1)
            } else if rest.is_item() || key_end(rest.text).is_some() {
                if let Some(slot) = self.lines.get_mut(self.at) {
                    *slot = rest;
                }
                self.block(indent + 1, depth + 1)
            } else {
                self.at += 1;
                self.value(rest, indent, depth)
            };
            end = node.span().end.max(rest.start);
            items.push(node);
        }
        Rc::new(Node::Seq(items, Span { file: self.file, start, end }))
    }

    fn mapping(&mut self, indent: usize, depth: usize) -> Rc<Node> {
        let mut entries = Vec::new();
        let start = self.next_line().map_or(0, |line| line.start);
        let mut end = start;
        while let Some(line) = self.next_line().filter(|l| l.indent == indent && !l.is_item()) {
            let Some(colon) = key_end(line.text) else { break };
            self.at += 1;
            let key = line.text.get(..colon).unwrap_or_default().trim_end();
            let key = self.key(key, line.start);
            let rest = line.rest(colon + 1);
            let node = self.value(rest, indent, depth);
            end = node.span().end.max(rest.start);
            entries.push((key, node));
        }
        Rc::new(Node::Map(entries, Span { file: self.file, start, end }))
    }

    fn key(&self, key: &str, start: usize) -> Mapped {
        let inner = ['"', '\''].into_iter().find_map(|q| key.strip_prefix(q)?.strip_suffix(q));
        match inner {
            Some(inner) => Mapped::copied(inner, self.file, start + 1),
            None => Mapped::copied(key, self.file, start),
        }
    }

    /// The value that starts with `rest`; the line it stands on is already behind the reader. `indent` is that of the parent.
    fn value(&mut self, rest: Line<'t>, indent: usize, depth: usize) -> Rc<Node> {
        let mut rest = rest;
        let mut anchor = None;
        while let Some(first @ ('&' | '!')) = rest.text.chars().next() {
            let length = rest.text.find([' ', '\t']).unwrap_or(rest.text.len());
            if first == '&' {
                anchor = rest.text.get(1..length);
            } else if rest.text.starts_with("!reference") {
                break;
            }
            rest = rest.rest(length);
        }
        let node = self.plain_value(rest, indent, depth);
        if let Some(name) = anchor {
            self.anchors.insert(name, node.clone());
        }
        node
    }

    fn plain_value(&mut self, rest: Line<'t>, indent: usize, depth: usize) -> Rc<Node> {
        if rest.is_blank() {
            let next = self.next_line();
            return match next {
                // A sequence may stand as deep as the key it belongs to.
                Some(line) if line.indent > indent || (line.indent == indent && line.is_item()) => {
                    self.block(line.indent, depth + 1)
                }
                _ => self.empty(rest.start),
            };
        }
        match rest.text.as_bytes().first() {
            Some(b'|' | b'>') => self.block_scalar(rest, indent),
            Some(b'*') => {
                let name = rest
                    .text
                    .get(1..)
                    .and_then(|t| t.split([' ', '\t']).next())
                    .unwrap_or_default();
                match self.anchors.get(name) {
                    Some(node) => node.clone(),
                    None => {
                        self.error(
                            rest.start,
                            rest.start + rest.text.len(),
                            "no anchor of that name stands above",
                        );
                        self.empty(rest.start)
                    }
                }
            }
            Some(b'[' | b'{' | b'"' | b'\'') => self.flow_value(rest),
            _ => self.plain_scalar(rest, indent),
        }
    }

    fn flow_value(&mut self, rest: Line<'t>) -> Rc<Node> {
        let mut flow = super::yaml_flow::Flow::new(self.text, self.file, rest.start);
        let node = flow.value(0);
        let (end, errors) = flow.finish();
        self.errors.extend(errors);
        // The value may end on a later line.
        while self.lines.get(self.at).is_some_and(|line| line.start < end) {
            self.at += 1;
        }
        Rc::new(node)
    }

    /// A plain scalar: up to a comment, and on through deeper lines.
    fn plain_scalar(&mut self, rest: Line<'t>, indent: usize) -> Rc<Node> {
        let mut text = Mapped::new(self.file);
        let first = without_comment(rest.text);
        text.push(first, rest.start);
        if first.len() == rest.text.len() {
            while let Some(line) = self.lines.get(self.at).copied() {
                if line.is_blank()
                    || line.indent <= indent
                    || line.is_item()
                    || key_end(line.text).is_some()
                {
                    break;
                }
                let at = text.whole().end;
                text.push_replaced(" ", at, line.start);
                let more = without_comment(line.text);
                text.push(more, line.start);
                self.at += 1;
                if more.len() < line.text.len() {
                    break;
                }
            }
        }
        Rc::new(Node::Scalar(text))
    }

    /// `|` and `>`: the deeper lines that follow, as they are or folded.
    fn block_scalar(&mut self, head: Line<'t>, indent: usize) -> Rc<Node> {
        let folded = head.text.starts_with('>');
        let mut text = Mapped::new(self.file);
        let mut depth = None;
        while let Some(line) = self.lines.get(self.at).copied() {
            let blank = line.text.is_empty();
            if !blank && line.indent <= indent && !(indent == 0 && line.indent > 0) {
                break;
            }
            if !blank {
                let depth = *depth.get_or_insert(line.indent);
                if line.indent < depth {
                    break;
                }
                let more = line.indent - depth;
                text.push(
                    self.text.get(line.start - more..line.start).unwrap_or_default(),
                    line.start - more,
                );
                text.push(line.text, line.start);
            }
            let end = line.start + line.text.len();
            text.push_replaced(if folded && !blank { " " } else { "\n" }, end, end);
            self.at += 1;
        }
        if text.is_empty() {
            text.push_replaced("", head.start, head.start);
        }
        Rc::new(Node::Scalar(text))
    }
}

/// Where the colon of `KEY: …` stands, when the line starts a mapping.
fn key_end(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let ends = |at: usize| {
        bytes.get(at) == Some(&b':') && matches!(bytes.get(at + 1), None | Some(b' ' | b'\t'))
    };
    match bytes.first()? {
        quote @ (b'"' | b'\'') => {
            let close = text.get(1..)?.find(char::from(*quote))? + 2;
            let blanks = text.get(close..)?.len() - text.get(close..)?.trim_start().len();
            ends(close + blanks).then_some(close + blanks)
        }
        b'[' | b'{' | b'#' | b'|' | b'>' | b'*' | b'&' | b'!' | b'%' | b'@' => None,
        _ => {
            let comment = text.find(" #").unwrap_or(text.len());
            text.get(..comment)?.match_indices(':').map(|(at, _)| at).find(|at| ends(*at))
        }
    }
}

/// A plain scalar ends at a comment.
fn without_comment(text: &str) -> &str {
    let end = [" #", "\t#"].into_iter().filter_map(|c| text.find(c)).min().unwrap_or(text.len());
    text.get(..end).unwrap_or(text).trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(node: &Node) -> String {
        match node {
            Node::Null(_) => "~".to_owned(),
            Node::Scalar(text) => format!("{:?}", text.as_str()),
            Node::Seq(items, _) => {
                format!("[{}]", items.iter().map(|i| show(i)).collect::<Vec<_>>().join(","))
            }
            Node::Map(entries, _) => {
                let all: Vec<String> =
                    entries.iter().map(|(k, v)| format!("{}:{}", k.as_str(), show(v))).collect();
                format!("{{{}}}", all.join(","))
            }
        }
    }

    fn parsed(text: &str) -> String {
        let (node, errors) = parse(text, 0);
        assert!(errors.is_empty(), "{text}: {errors:?}");
        show(&node)
    }

    #[test]
    fn structures_are_read() {
        assert_eq!(
            parsed("a: 1 # x\nb:\n- c\n-  d: e\n   f: g\n- - h\nc: [1, \"2\", {k: v}]\n"),
            r#"{a:"1",b:["c",{d:"e",f:"g"},["h"]],c:["1","2",{k:"v"}]}"#
        );
        assert_eq!(
            parsed("a:\n  - pip:\n      - x==1; y == \"z\"\n  - u::v\nb:\n"),
            r#"{a:[{pip:["x==1; y == \"z\""]},"u::v"],b:~}"#
        );
        assert_eq!(
            parsed("s:\n  - |\n    a\n      b\n\n    c\n  - >-\n    d\n    e\nt: x\n  y\n"),
            "{s:[\"a\\n  b\\n\\nc\\n\",\"d e \"],t:\"x y\"}"
        );
        assert_eq!(
            parsed("x: &a\n  k: v\ny: *a\nz:\n  <<: *a\n"),
            r#"{x:{k:"v"},y:{k:"v"},z:{<<:{k:"v"}}}"#
        );
        assert_eq!(
            parsed("---\nimage: a:b\nq: 'it''s'\nr: [a,\n  b]\ns: \"x\\ty\"\n"),
            r#"{image:"a:b",q:"it's",r:["a","b"],s:"x\ty"}"#
        );
    }

    #[test]
    fn scalars_lead_back_to_the_file() {
        let text = "dependencies:\n  - pip:\n    - \"torch==2.4.0\"  # pinned\n";
        let (node, _) = parse(text, 0);
        let item = node.get("dependencies").and_then(|d| d.items()[0].get("pip")).expect("pip");
        let span = item.items()[0].span();
        assert_eq!(&text[span.start..span.end], "torch==2.4.0");
    }

    #[test]
    fn odd_texts_end() {
        for text in
            ["- - - -", "a: [", "\"", "a: *b", "\t- x", ": x", "- a\n b: c\n  d", "a: 'x\nb: y"]
        {
            let _ = parse(text, 0);
        }
        let _ = parse(&"- ".repeat(100_000), 0);
        let _ = parse(&"[".repeat(100_000), 0);
        let _ = parse(&"a:\n ".repeat(10_000), 0);
    }
}
