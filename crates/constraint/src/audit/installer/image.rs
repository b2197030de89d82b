//! What an image holds already.

use super::install::{Installed, Taken};
use super::pick::{Picked, Picker};
use crate::name::Name;
use crate::rules::torch::TORCH;
use crate::version::{DistVersion, SourceId};

/// The torch that an image holds, unless the file installs another one.
pub(in crate::audit) fn torch(picker: &Picker<'_>, installed: &mut Installed) {
    let image = picker.question.surroundings.vendor_image.as_ref();
    let (Some(version), Ok(name)) = (image.and_then(|image| image.torch.clone()), Name::new(TORCH))
    else {
        return;
    };
    let build = Picked {
        version: DistVersion::new(version, SourceId::MAX),
        file: None,
        yanked: None,
        unfit: None,
    };
    installed.taken.entry(name).or_insert_with(|| Taken {
        build,
        metadata: None,
        extras: std::collections::BTreeSet::new(),
        line: None,
        direct: false,
        pinned: true,
        expands: false,
    });
}
