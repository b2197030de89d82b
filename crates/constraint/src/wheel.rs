//! Wheels by their file names: what a name says (PEP 427, 491), and whether a target can use the file (PEP 425, 600, 656).

mod compat;
mod filename;
mod platform;
mod pythons;
mod release;
mod tags;
mod why;

pub use compat::{Compatibility, Priority, Tags};
pub use filename::{BuildTag, WheelName, WheelNameError};
pub use platform::{Arch, PlatformTag};
pub use pythons::PythonSet;
pub use release::ReleaseFit;
pub use tags::WheelTags;
pub use why::Why;
