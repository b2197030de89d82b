//! The checks, one file for each subject. Each is a function of the case to the sink; [`super::run`] lists them.

pub(super) mod absent;
pub(super) mod conda;
pub(super) mod folder;
pub(super) mod images;
pub(super) mod indexes;
pub(super) mod installers;
pub(super) mod layers;
pub(super) mod libraries;
pub(super) mod machine;
pub(super) mod releases;
pub(super) mod requirements;
pub(super) mod sources;
pub(super) mod text;
