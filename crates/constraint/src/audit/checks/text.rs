//! What readers did not understand.

use crate::audit::code::Code;
use crate::audit::finding::{Doubt, Finding};
use crate::audit::question::TextFault;

/// A line that is not read, or read as something else.
pub(in crate::audit) fn not_understood(fault: &TextFault) -> Finding {
    let mut finding = Finding::new(Code::Syntax, fault.message.clone())
        .at_place(fault.place)
        .unless(Doubt::Said(fault.severity));
    finding.severity = fault.severity;
    finding.fix.clone_from(&fault.help);
    finding
}
