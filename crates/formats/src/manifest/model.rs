//! `[model]`: a model that goes from an exporter to a runtime.

use serde_spanned::Spanned;
use toml::de::DeTable;

use crate::document::{Report, integer, owned, text};
use crate::schema::{Key, Kind};

/// The keys of `[model]`.
pub(super) const KEYS: &[Key] = &[
    Key::new("opset", Kind::Count, "17", "The version of the default ONNX operator set."),
    Key::new("ir-version", Kind::Count, "8", "The version of the ONNX file format."),
    Key::new(
        "onnx",
        Kind::Text,
        "\"model.onnx\"",
        "A model file, relative to env.toml, from which opset and IR version are read.",
    ),
];

/// `[model]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Model {
    /// The default operator set.
    pub opset: Option<Spanned<u32>>,
    /// The IR version.
    pub ir_version: Option<Spanned<u32>>,
    /// A file to read both from, as written.
    pub onnx: Option<Spanned<String>>,
}

impl Model {
    pub(super) fn read(table: &DeTable<'_>, report: &mut Report) -> Self {
        let count = |key| {
            let value = table.get(key)?;
            let number = u32::try_from(integer(value)?).ok()?;
            Some(Spanned::new(value.span(), number))
        };
        let onnx = text(table, "onnx");
        let this = Self {
            opset: count("opset"),
            ir_version: count("ir-version"),
            onnx: onnx.as_ref().map(owned),
        };
        if let Some(onnx) = &onnx
            && onnx.get_ref().trim().is_empty()
        {
            report.error(onnx.span(), "`onnx` is empty").help("write the path of a model file");
        }
        if this.onnx.is_some() {
            for (key, value) in [("opset", &this.opset), ("ir-version", &this.ir_version)] {
                if let Some(value) = value {
                    report
                        .error(
                            value.span(),
                            format!("`{key}` is read from the file that `onnx` names"),
                        )
                        .help(format!("keep `onnx` or `{key}`"));
                }
            }
        }
        this
    }
}
