//! What an index page needs of an HTML document: its links, base and meta, and enough to tell what else it may be.

use std::convert::Infallible;

use html5gum::emitters::callback::{Callback, CallbackEmitter, CallbackEvent};
use html5gum::{Error, Span, Tokenizer};

use super::parsed::{MOST_FILES, PageError, check_api_version};

/// A link of a page.
#[derive(Default)]
pub(super) struct Anchor {
    /// `href`, entities decoded.
    pub(super) href: String,
    /// `data-requires-python` (PEP 503).
    pub(super) requires_python: Option<String>,
    /// `data-yanked` (PEP 592).
    pub(super) yanked: Option<String>,
    /// `data-core-metadata` (PEP 714), else `data-dist-info-metadata` (PEP 658).
    pub(super) core_metadata: Option<String>,
    /// `data-upload-time`, as the PyTorch indexes write it.
    pub(super) upload_time: Option<String>,
}

/// A document as far as it matters.
#[derive(Default)]
pub(super) struct Document {
    /// Every `<a href>`.
    pub(super) anchors: Vec<Anchor>,
    /// The first `<base href>`.
    pub(super) base: Option<String>,
    title: String,
    /// `<h1>`, `<form>` and such, in the order of [`Element`].
    seen: [bool; Element::COUNT],
    api_version: Option<String>,
    end: Option<&'static str>,
    too_many: bool,
    tag: Option<Element>,
    attributes: Vec<(Vec<u8>, String)>,
}

/// Elements that matter.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Element {
    A,
    Base,
    Meta,
    Title,
    Html,
    Form,
    Script,
    Other,
}

impl Element {
    const COUNT: usize = 8;

    fn of(name: &[u8]) -> Self {
        match name {
            b"a" => Self::A,
            b"base" => Self::Base,
            b"meta" => Self::Meta,
            b"title" => Self::Title,
            b"html" | b"head" | b"body" | b"h1" => Self::Html,
            b"form" | b"input" => Self::Form,
            b"script" => Self::Script,
            _ => Self::Other,
        }
    }
}

impl Document {
    /// Reads a document. Errors of HTML are passed over as browsers do; what an index page may not be is not.
    ///
    /// # Errors
    /// When the document ends inside a tag or link, or states a later version of the API (PEP 629).
    pub(super) fn read(body: &[u8]) -> Result<Self, PageError> {
        let text = String::from_utf8_lossy(body);
        let mut document = Self::default();
        let mut emitter = CallbackEmitter::<_, Infallible>::new(&mut document);
        // Text of scripts must not be taken for tags.
        emitter.naively_switch_states(true);
        let Ok(_) = Tokenizer::new_with_emitter(text.as_ref(), emitter).finish();
        if let Some(version) = &document.api_version {
            check_api_version(version)?;
        }
        if document.too_many {
            return Err(PageError::TooMany);
        }
        match document.end {
            Some(inside) => Err(PageError::Truncated(inside)),
            None if document.tag == Some(Element::A) => Err(PageError::Truncated("a link")),
            None => Ok(document),
        }
    }

    /// For a page without a link to a file: what it is instead, `None` when it can be a page of a project without files.
    pub(super) fn oddity(&self) -> Option<String> {
        let titled = match self.title.trim() {
            "" => String::new(),
            title => format!(" titled '{}'", title.chars().take(80).collect::<String>()),
        };
        let seen = |element: Element| self.seen[element as usize];
        if seen(Element::Form) {
            Some(format!("an HTML page{titled} with a form, perhaps to sign in"))
        } else if !self.anchors.is_empty() {
            let count = self.anchors.len();
            Some(format!(
                "an HTML page{titled} with {count} links, none of them to a wheel or an sdist"
            ))
        } else if seen(Element::Script) {
            Some(format!("an HTML page{titled} that only a browser can show"))
        } else if !seen(Element::Html) && self.api_version.is_none() {
            Some("markup of some other kind than an HTML page".to_owned())
        } else {
            None
        }
    }

    fn take(&mut self, name: &str) -> Option<String> {
        let at = self.attributes.iter().position(|(key, _)| key == name.as_bytes())?;
        Some(self.attributes.swap_remove(at).1)
    }

    fn start_tag(&mut self, element: Element) {
        self.seen[element as usize] = true;
        match element {
            Element::A if self.anchors.len() == MOST_FILES => self.too_many = true,
            Element::A => {
                if let Some(href) = self.take("href") {
                    let anchor = Anchor {
                        href,
                        requires_python: self.take("data-requires-python"),
                        yanked: self.take("data-yanked"),
                        core_metadata: self
                            .take("data-core-metadata")
                            .or_else(|| self.take("data-dist-info-metadata")),
                        upload_time: self.take("data-upload-time"),
                    };
                    self.anchors.push(anchor);
                }
            }
            Element::Base if self.base.is_none() => self.base = self.take("href"),
            Element::Meta if self.take("name").as_deref() == Some("pypi:repository-version") => {
                self.api_version = self.take("content");
            }
            _ => {}
        }
    }
}

impl Callback<Infallible, ()> for &mut Document {
    fn handle_event(&mut self, event: CallbackEvent<'_>, _: Span<()>) -> Option<Infallible> {
        match event {
            CallbackEvent::OpenStartTag { name } => {
                self.tag = Some(Element::of(name));
                self.attributes.clear();
            }
            CallbackEvent::AttributeName { name } => {
                self.attributes.push((name.to_owned(), String::new()));
            }
            CallbackEvent::AttributeValue { value } => {
                if let Some((_, text)) = self.attributes.last_mut() {
                    text.push_str(&String::from_utf8_lossy(value));
                }
            }
            CallbackEvent::CloseStartTag { .. } => {
                if let Some(element) = self.tag {
                    self.start_tag(element);
                }
            }
            CallbackEvent::EndTag { .. } => self.tag = None,
            CallbackEvent::String { value } if self.tag == Some(Element::Title) => {
                self.title.push_str(&String::from_utf8_lossy(value));
            }
            CallbackEvent::Error(Error::EofInTag | Error::EofBeforeTagName) => {
                self.end = Some("a tag");
            }
            CallbackEvent::Error(Error::EofInComment) => self.end = Some("a comment"),
            _ => {}
        }
        None
    }
}
