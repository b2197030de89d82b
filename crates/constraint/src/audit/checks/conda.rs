//! What conda lines select.

use crate::audit::case::Case;
use crate::audit::code::Code;
use crate::audit::finding::{Doubt, FactText, Finding};
use crate::audit::installer::conda::{Fault, FaultKind};
use crate::audit::sink::Sink;
use crate::matrix;
use crate::matrix::rows::conda::Selector;
use crate::version::SystemVersion;

const ON_CPU: &str = "torch.cuda.is_available() is False";
const NO_SOLUTION: &str = "LibMambaUnsatisfiableError: Encountered problems while solving";

pub(in crate::audit) fn packages(case: &Case<'_>, sink: &mut Sink<'_>) {
    for fault in &case.conda {
        sink.push(worded(case, fault).about(fault.package).at(Some(fault.line)));
    }
}

fn worded(case: &Case<'_>, fault: &Fault) -> Finding {
    let package = fault.package;
    match &fault.kind {
        FaultKind::Ended { version, row } => Finding::new(
            Code::VersionNotFound,
            format!(
                "{} {version} is not on the channel {}, which ended with {}",
                row.package, row.channel, row.last
            ),
        )
        .because(FactText::row(
            &format!("the last {} on the channel {} is {}", row.package, row.channel, row.last),
            &row.source,
        ))
        .otherwise(format!("PackagesNotFoundError: {}={version}", row.package))
        .advise(format!("use pip, or {} from conda-forge", row.package)),
        FaultKind::NeedsChannel(row) => {
            let first = row.channels.first().map_or("", String::as_str);
            Finding::new(
                Code::IndexMissing,
                format!("{} needs the channel {first}: {}", row.package, row.text),
            )
            .because(FactText::row(&row.text, &row.source))
            .otherwise(NO_SOLUTION)
            .advise(format!("add the channel {first}"))
        }
        FaultKind::SelectsCpu { by } => Finding::new(
            Code::CpuOnlyBuild,
            format!("{by} selects the build of {package} for the CPU, and the machine has a GPU"),
        )
        .because(FactText::new(format!("{by} is listed"), "the file"))
        .otherwise(ON_CPU)
        .advise("list pytorch-cuda instead"),
        FaultKind::OnlyForCpu(row) => Finding::new(
            Code::CpuOnlyBuild,
            format!("{} selects the build of {package} for the CPU: {}", row.package, row.text),
        )
        .because(FactText::row(&row.text, &row.source))
        .otherwise(ON_CPU)
        .advise("install it with pip"),
        FaultKind::Unselected(row) => Finding::new(
            Code::CpuOnlyBuild,
            format!(
                "nothing selects between the builds of {package} for the CPU and for CUDA: {}",
                row.text
            ),
        )
        .because(FactText::row(&row.text, &row.source))
        .unless(Doubt::HasGpu)
        .otherwise(ON_CPU)
        .advise("list pytorch-cuda=VERSION, or cpuonly"),
        FaultKind::Outdated { by, now } => Finding::new(
            Code::CpuOnlyBuild,
            format!("{package} has no version, and {by} does not select its newer builds"),
        )
        .because(FactText::row(
            &format!("{} selects the build since {}", now.package, now.span.from),
            &now.source,
        ))
        .unless(Doubt::Elsewhere)
        .otherwise(ON_CPU)
        .advise(format!("pin {package}, or list {}", now.package)),
        FaultKind::OtherSelector { release, by, row } => {
            // What selected older builds selects nothing of newer ones; what selects newer ones has no version for older.
            let newest =
                matrix::conda().selector.iter().rfind(|other| other.channel == row.channel);
            let is_newest = newest.is_some_and(|newest| newest.package == row.package);
            let code = if is_newest { Code::CpuOnlyBuild } else { Code::VersionNotFound };
            Finding::new(
                code,
                format!(
                    "the CUDA build of {package} {release} is selected by {}, not by {by}",
                    row.package
                ),
            )
            .because(FactText::row(
                &format!(
                    "{} {} to {}: {}",
                    row.package,
                    row.span.from,
                    row.span.to,
                    listed(&row.cuda)
                ),
                &row.source,
            ))
            .otherwise(ON_CPU)
            .advise(listing(row))
        }
        FaultKind::NoBuild { release, cuda, row } => Finding::new(
            Code::VersionNotFound,
            format!(
                "{package} {release} has no build for {}={cuda}: there are {}",
                row.package,
                listed(&row.cuda)
            ),
        )
        .because(FactText::row(
            &format!("builds of {package} {} to {}", row.span.from, row.span.to),
            &row.source,
        ))
        .otherwise(ON_CPU)
        .advise(listing(row)),
        FaultKind::Python { version, distribution, file, why } => Finding::new(
            Code::PythonUnsupported,
            format!(
                "{package} {version} was not built for Python {}: {why}",
                case.question.target.python
            ),
        )
        .because(FactText::new(
            format!("{file}: {why}"),
            format!("file names of {distribution} {version}"),
        ))
        .otherwise(NO_SOLUTION),
    }
}

fn listing(row: &Selector) -> String {
    format!("list {}={}", row.package, row.cuda.last().map_or("", SystemVersion::as_str))
}

fn listed(versions: &[SystemVersion]) -> String {
    versions.iter().map(SystemVersion::as_str).collect::<Vec<_>>().join(", ")
}
