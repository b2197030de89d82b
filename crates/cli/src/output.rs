//! What is shown: progress on a terminal, messages, the stack, the reason why there is no answer.

pub mod audit;
pub mod conflict;
pub mod fixes;
pub mod json;
pub mod message;
pub mod progress;
pub mod rejected;
pub mod sdists;
mod shown;
pub mod stack;

pub use shown::{shown, stdout};
