//! Container images: what they hold, what they lack, and whether they start on the driver.

use crate::audit::case::Case;
use crate::audit::code::Code;
use crate::audit::finding::{Doubt, FactText, Finding, Place};
use crate::audit::sink::Sink;
use crate::machine::{Brand, Gpu};
use crate::package::Package;
use crate::rules::{driver, image, prebuilt};
use crate::version::SystemVersion;

/// Tags of `nvidia/cuda` that do not exist.
pub(in crate::audit) fn unreadable(case: &Case<'_>, sink: &mut Sink<'_>) {
    let image = case.question.surroundings.base_image.as_ref();
    if let Some(why) = image.and_then(|image| image.unreadable.as_ref()) {
        sink.push(Finding::new(Code::ImageMismatch, why.clone()).at_place(Place::Image));
    }
}

/// Something is installed into an image without Python.
pub(in crate::audit) fn without_python(case: &Case<'_>, sink: &mut Sink<'_>) {
    let image = case.question.surroundings.base_image.as_ref();
    if let Some(image) = image.filter(|image| image.lacks_python) {
        let message = format!("{} has no Python, and nothing here installs one", image.reference);
        let finding = Finding::new(Code::ImageMismatch, message).at_place(Place::Image);
        sink.push(finding.advise("install python3 and python3-pip first"));
    }
}

/// The pip of the system's packages installs for the Python of the system, also where another one is installed beside it.
pub(in crate::audit) fn pip_of_another_python(case: &Case<'_>, sink: &mut Sink<'_>) {
    let Some(image) = &case.question.surroundings.base_image else { return };
    let Some(found) = &image.other_python else { return };
    let (system, other) = (&found.system, &found.other);
    let message = format!(
        "python3-pip of {} installs for Python {system}, and python{other} is installed beside it",
        image.reference
    );
    let finding = Finding::new(Code::ImageMismatch, message)
        .at_place(found.place)
        .unless(Doubt::Elsewhere)
        .advise(format!("call it as python{other} -m pip"));
    sink.push(finding);
}

/// Images of `nvidia/cuda` that do not start on the driver.
pub(in crate::audit) fn on_driver(case: &Case<'_>, sink: &mut Sink<'_>) {
    let machine = &case.question.machine;
    let (Some(found), Some(driver)) = (&case.question.image, &machine.driver) else { return };
    let gpu = machine.gpus.iter().flatten().next().cloned().unwrap_or(Gpu {
        name: "a GPU".to_owned(),
        capability: SystemVersion::new(0, 0),
        brand: Brand::Unknown,
    });
    let limit = image::image_driver(found, &gpu, machine.platform);
    let Some(limit) = limit.filter(|limit| !limit.allows(driver)) else { return };
    let message = format!(
        "the image {} does not start on driver {driver}: {}",
        found.reference(),
        limit.fact.text
    );
    let finding = Finding::of_fact(&limit.fact, message)
        .at_place(Place::Image)
        .unless(Doubt::HasGpu)
        .because(FactText::new(format!("the machine has driver {driver}"), "the machine"));
    sink.push(finding);
}

/// Images of others that hold a CUDA and a torch.
pub(in crate::audit) fn of_vendors(case: &Case<'_>, sink: &mut Sink<'_>) {
    vendor_driver(case, sink);
    let Some(found) = &case.question.surroundings.vendor_image else { return };
    let Some(fact) = &found.own_torch else { return };
    for (name, taken) in &case.installed.taken {
        if !taken.direct || !prebuilt::is_compiled_against_torch(*name) {
            continue;
        }
        let message = format!(
            "{} is made for a release of torch, and {} holds none: {}",
            case.title(Package::dist(*name)),
            found.reference,
            fact.text
        );
        let finding = Finding::of_fact(fact, message).about(*name).at(taken.line);
        sink.push(finding.advise(format!(
            "build {name} from source in this image, or start from an image without torch"
        )));
    }
}

fn vendor_driver(case: &Case<'_>, sink: &mut Sink<'_>) {
    let machine = &case.question.machine;
    let Some(found) = &case.question.surroundings.vendor_image else { return };
    let (Some(driver), Some(cuda)) = (&machine.driver, found.as_cuda_image()) else { return };
    let full = driver::full_support_driver(&cuda.cuda, machine.platform);
    let gpu = machine.gpus.iter().flatten().next();
    let forward = gpu.is_some_and(|gpu| matches!(gpu.brand, Brand::DataCenter | Brand::Jetson));
    let listed = gpu.and_then(|gpu| image::image_driver(&cuda, gpu, machine.platform));
    let refused = listed.as_ref().is_some_and(|limit| !limit.allows(driver));
    // An image with torch inside has no forward-compatibility package: the CUDA rules judge it.
    let older = full.filter(|full| driver < full && found.torch.is_none());
    let Some(full) = older.filter(|_| refused || !forward) else { return };
    let message = format!(
        "the image {} holds CUDA {} and the forward-compatibility libraries of its base: on driver {driver} they only work with data-center GPUs",
        found.reference, cuda.cuda
    );
    let finding = Finding::new(Code::ImageDriver, message)
        .at_place(Place::Image)
        .because(FactText::new(
            format!("CUDA {} needs driver {full} without them", cuda.cuda),
            "NVIDIA CUDA compatibility guide",
        ))
        .because(FactText::new(format!("the machine has driver {driver}"), "the machine"))
        .otherwise("Error 804: forward compatibility was attempted on non supported HW")
        .advise(format!("use driver {full} or newer, or an image of an older CUDA"));
    sink.push(finding);
}

/// A CUDA in the image that torch does not use, because it brings another one.
pub(in crate::audit) fn unused_cuda(case: &Case<'_>, sink: &mut Sink<'_>) {
    let (Some(found), Some((name, cuda))) = (&case.question.image, case.accelerator()) else {
        return;
    };
    if cuda.major() == 0 || cuda.major() == found.cuda.major() {
        return;
    }
    let package = Package::dist(name);
    let title = case.title(package);
    let message = format!(
        "{title} brings CUDA {cuda}, and the image {} holds CUDA {}: one of them is not what is meant",
        found.reference(),
        found.cuda
    );
    let finding = Finding::new(Code::ImageMismatch, message)
        .about(name)
        .at(case.line_of(package))
        .unless(Doubt::Elsewhere)
        .because(FactText::new(format!("{title} is built for CUDA {cuda}"), "builds of torch"))
        .because(FactText::new(
            format!("the image holds CUDA {}", found.cuda),
            "tags of nvidia/cuda",
        ))
        .advise(format!(
            "take the build of torch for CUDA {}, or an image without CUDA",
            found.cuda.major()
        ));
    sink.push(finding);
}

/// Packages that bring a Linux driver, where the host brings it: in WSL and in containers.
pub(in crate::audit) fn host_drivers(case: &Case<'_>, sink: &mut Sink<'_>) {
    // A script may well be meant for the machine itself.
    if case.question.surroundings.shell {
        return;
    }
    for package in &case.question.surroundings.system_packages {
        let Some(fact) = driver::package_with_driver(package) else { continue };
        let message = format!("the package {package} brings a driver of its own: {}", fact.text);
        let finding = Finding::of_fact(&fact, message).unless(Doubt::Elsewhere);
        sink.push(finding.advise(
            "install the toolkit alone (cuda-toolkit-X-Y), or none: wheels bring their libraries",
        ));
    }
}
