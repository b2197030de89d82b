//! From a wheel to its row.

use cuda_lock_constraint::matrix;
use cuda_lock_constraint::name::Name;

use crate::error::Error;
use crate::exports::Exports;
use crate::extension;
use crate::index::{Index, Wheel};
use crate::row::Row;
use crate::wheel::Contents;

/// The libraries of torch whose exports extensions take.
const TORCH_LIBRARIES: &str = "torch/lib/";

/// Reads one wheel and says what it says.
///
/// # Errors
/// When it cannot be read.
pub fn row(
    index: &Index,
    name: Name,
    platform: &str,
    wheel: &Wheel,
    exports: &Exports,
) -> Result<(Row, Vec<String>), Error> {
    let contents = Contents::read(index.open(wheel)?, |_| true)?;
    let loads = extension::judge(&contents, exports);
    let code = contents.code();
    let (ptx, cubins): (Vec<_>, Vec<_>) = code.into_iter().partition(|code| code.ptx_isa.is_some());
    let isa = ptx.iter().filter_map(|code| code.ptx_isa).max();
    let texts = |codes: &[crate::fatbin::Code]| {
        let mut texts: Vec<String> = codes.iter().map(ToString::to_string).collect();
        texts.dedup();
        texts
    };
    let version = wheel.version.to_string();
    let row = Row {
        name: name.to_string(),
        from: version.clone(),
        to: version,
        platform: platform.to_owned(),
        torch: loads.as_ref().map(|loads| loads.torch.clone()),
        stable_abi: loads.as_ref().is_some_and(|loads| loads.stable_abi),
        lacks: loads.map(|loads| loads.lacks).unwrap_or_default(),
        needs: contents
            .foreign()
            .into_iter()
            .filter(|name| is_cuda(name))
            .map(str::to_owned)
            .collect(),
        cubins: texts(&cubins),
        ptx: texts(&ptx),
        ptx_isa: isa.map(|(major, minor)| format!("{major}.{minor}")),
        source: vec![wheel.source()],
    };
    Ok((row, contents.unread))
}

/// Whether a library is one that NVIDIA's wheels bring: the matrix of those wheels lists their files.
fn is_cuda(soname: &str) -> bool {
    matrix::libraries().library.iter().any(|row| row.files.iter().any(|file| file == soname))
}

/// Adds the exports of one release of torch.
///
/// # Errors
/// When its wheel cannot be read.
pub fn torch(index: &Index, wheel: &Wheel, exports: &mut Exports) -> Result<usize, Error> {
    let contents = Contents::read(index.open(wheel)?, |path| path.starts_with(TORCH_LIBRARIES))?;
    let mut symbols = std::collections::BTreeMap::new();
    for object in contents.objects.into_values() {
        symbols.extend(object.defined);
    }
    exports.add(&wheel.version, wheel.source(), &symbols)?;
    Ok(symbols.len())
}
