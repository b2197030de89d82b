//! Which files an installer would take today: pip and those that follow its rules, and conda by what is known of channels.
//!
//! | module | what |
//! | --- | --- |
//! | `install`, `backtrack` | all builds, dependencies included |
//! | `pick` | the build of one name |
//! | `known` | which builds PyTorch's indexes are known to have, where they are not asked |
//! | `named` | wheels that lines name by URL or path |
//! | `conda` | what conda packages stand for |
//! | `image` | what an image holds already |

mod backtrack;
pub(super) mod conda;
pub(super) mod image;
mod install;
pub(super) mod known;
pub(super) mod named;
mod pick;

pub(super) use install::{Installed, Installer, Taken};
pub(super) use pick::{Missing, Pick, Picker, Unfit, Wish};
