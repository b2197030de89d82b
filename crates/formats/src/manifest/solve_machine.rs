//! From the keys of a target to the machine that is solved for: GPU names and images are looked up in the matrices.

use cuda_lock_constraint::machine::{Gpu, Libc, Libraries, Machine};
use cuda_lock_constraint::rules::image::{Image, parse_image};
use cuda_lock_constraint::rules::products::find_gpu;
use cuda_lock_constraint::version::{Range, SystemVersion, system_range};
use serde_spanned::Spanned;

use super::{Manifest, SystemWish, TargetSpec};
use crate::diagnostic::Diagnostics;
use crate::document::Report;

impl Manifest {
    /// The machine of a target of this file.
    ///
    /// An image gives the glibc, where none is written. It also gives CUDA and cuDNN, unless `libraries = "wheels"` says
    /// that they come from wheels; what `cuda` and `cudnn` wish must then be in the image.
    ///
    /// # Errors
    /// GPUs that nobody knows or that can mean several, images whose content is not known, and wishes that an image does
    /// not fulfil, each with its position.
    pub fn machine_of(&self, spec: &TargetSpec) -> Result<Machine, Diagnostics> {
        let mut report = Report::new(self.source());
        let keys = &spec.machine;
        let platform = *spec.platform.get_ref();
        let gpus = keys.gpus.as_ref().map(|names| find_gpus(names, &mut report));
        let image = keys.image.as_ref().and_then(|reference| {
            let found = parse_image(reference.get_ref(), platform);
            found.map_err(|error| report.error(reference.span(), error.to_string()).done()).ok()
        });
        let given = keys.libraries.as_ref().map(|from| *from.get_ref());
        let default = if image.is_some() { Libraries::System } else { Libraries::Wheels };
        let libraries = given.unwrap_or(default);
        let stack = image.as_ref().filter(|_| libraries == Libraries::System);
        let cuda =
            wish("cuda", keys.cuda.as_ref(), stack.map(|image| (image, &image.cuda)), &mut report);
        let cudnn = wish(
            "cudnn",
            keys.cudnn.as_ref(),
            stack.and_then(|image| Some((image, image.cudnn.as_ref()?))),
            &mut report,
        );
        let glibc = image.as_ref().and_then(|image| image.glibc.clone()).map(Libc::Glibc);
        let machine = Machine {
            platform,
            libc: keys.libc.as_ref().map(|libc| libc.get_ref().clone()).or(glibc),
            macos: keys.macos.as_ref().map(|macos| macos.get_ref().clone()),
            driver: keys.driver.as_ref().map(|driver| driver.get_ref().clone()),
            gpus,
            cuda,
            cudnn,
            libraries,
        };
        report.finish(Some(machine))
    }
}

fn find_gpus(names: &[Spanned<String>], report: &mut Report) -> Vec<Gpu> {
    let mut gpus = Vec::with_capacity(names.len());
    for name in names {
        match find_gpu(name.get_ref()) {
            Ok(gpu) => gpus.push(gpu),
            Err(error) => report.error(name.span(), error.to_string()).done(),
        }
    }
    gpus
}

/// What is written, what an image has, or both where they agree.
fn wish(
    key: &str,
    written: Option<&Spanned<SystemWish>>,
    image: Option<(&Image, &SystemVersion)>,
    report: &mut Report,
) -> Option<(String, Range)> {
    let own = |wish: &Spanned<SystemWish>| {
        let SystemWish { text, range } = wish.get_ref();
        (text.clone(), range.clone())
    };
    let Some((image, version)) = image else { return written.map(own) };
    let text = format!("=={version}");
    let range = system_range(&text).ok()?;
    if let Some(wish) = written
        && wish.get_ref().range.intersection(&range).is_empty()
    {
        let message = format!(
            "`{key}` \"{}\" does not allow {version} of {}",
            wish.get_ref().text,
            image.tag
        );
        report.error(wish.span(), message).help(format!("remove `{key}`, or take another image"));
    }
    Some((text, range))
}

#[cfg(test)]
mod tests {
    use cuda_lock_constraint::version::Version;

    use super::*;

    fn machine(keys: &str) -> Result<Machine, String> {
        let text = format!(
            "[environment]\npython = \"3.11\"\ndependencies = [\"torch\"]\n[machine]\nplatform = \"linux-x86_64\"\n{keys}"
        );
        let manifest = Manifest::parse(&text, "env.toml").map_err(|errors| errors.to_string())?;
        let spec = manifest.target(None).map_err(|error| error.to_string())?;
        manifest.machine_of(&spec).map_err(|errors| errors.to_string())
    }

    fn allows(wish: Option<&(String, Range)>, version: &str) -> bool {
        let version = Version::System(version.parse().expect("version"));
        wish.is_some_and(|(_, range)| range.contains(&version))
    }

    #[test]
    fn gpus_are_looked_up() {
        let found = machine("gpus = [\"RTX 3090\", \"8.9\"]\n").expect("known");
        let gpus = found.gpus.expect("gpus");
        let capabilities: Vec<String> = gpus.iter().map(|gpu| gpu.capability.to_string()).collect();
        assert_eq!(capabilities, ["8.6", "8.9"]);
        assert_eq!(found.libraries, Libraries::Wheels);
        let none = machine("gpus = []\n").expect("no GPU");
        assert_eq!(none.gpus, Some(Vec::new()));
        assert_eq!(machine("").expect("nothing said").gpus, None);
    }

    #[test]
    fn unknown_gpus_and_images_are_errors_at_their_place() {
        let errors = machine("gpus = [\"T4\", \"RTX 3099\", \"Voodoo\"]\nimage = \"debian:12\"\n");
        insta::assert_snapshot!(errors.expect_err("unknown"), @"
        env.toml:6:15: error: no GPU is known as 'RTX 3099': did you mean GeForce RTX 3090, GeForce RTX 3050 or GeForce RTX 3060? A compute capability such as 8.6 will do as well
        env.toml:6:27: error: no GPU is known as 'Voodoo': write the product's name, such as RTX 3090, or its compute capability, such as 8.6
        env.toml:7:9: error: 'debian:12' is not an nvidia/cuda image: only their tags say which CUDA and cuDNN they contain; write cuda, cudnn and glibc in [machine] instead
        ");
    }

    #[test]
    fn an_image_gives_its_libraries() {
        let image = "image = \"nvidia/cuda:12.4.1-cudnn-runtime-ubuntu22.04\"\n";
        let found = machine(image).expect("known");
        assert_eq!(found.libraries, Libraries::System);
        assert!(allows(found.cuda.as_ref(), "12.4.1") && !allows(found.cuda.as_ref(), "12.6"));
        assert_eq!(found.libc, "2.35".parse().ok().map(Libc::Glibc));

        let wheels = machine(&format!("{image}libraries = \"wheels\"\ncuda = \">=13\"\n"));
        let wheels = wheels.expect("the image's CUDA is not used");
        assert!(allows(wheels.cuda.as_ref(), "13.0") && !allows(wheels.cuda.as_ref(), "12.4.1"));

        let errors = machine(&format!("{image}cuda = \">=13\"\n")).expect_err("contradiction");
        insta::assert_snapshot!(errors, @r#"env.toml:7:8: error: `cuda` ">=13" does not allow 12.4.1 of 12.4.1-cudnn-runtime-ubuntu22.04"#);
    }
}
