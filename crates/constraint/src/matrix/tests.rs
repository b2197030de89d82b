//! The rows as a whole: every one has a source, every number reads, every list is in order.

use crate::version::SystemVersion;

/// Collects what is wrong with numbers.
#[derive(Default)]
struct Check(Vec<String>);

impl Check {
    fn number(&mut self, text: &str) {
        if text.parse::<SystemVersion>().is_err() {
            self.0.push(format!("number {text:?}"));
        }
    }

    fn numbers<'a>(&mut self, texts: impl IntoIterator<Item = &'a String>) {
        texts.into_iter().for_each(|text| self.number(text));
    }

    fn source(&mut self, row: &impl std::fmt::Debug, source: &[String]) {
        if source.is_empty() || source.iter().any(|text| text.trim().is_empty()) {
            self.0.push(format!("no source: {row:?}"));
        }
    }

    fn done(self) {
        assert!(self.0.is_empty(), "{}", self.0.join("\n"));
    }
}

#[test]
fn the_assumed_python_is_one_that_is_known() {
    let python = super::python();
    assert!(python.minor.iter().any(|row| row.version == python.assumed.version));
}

#[test]
fn rows_of_driver_and_cuda_are_sound() {
    let mut check = Check::default();
    let driver = super::driver();
    for row in &driver.branch {
        check.numbers([&row.cuda, &row.linux].into_iter().chain(&row.windows));
        check.source(row, &row.source);
    }
    for row in &driver.floor {
        check.numbers([&row.cuda, &row.linux, &row.windows]);
        check.source(row, &row.source);
    }
    for row in &driver.forward_package {
        check.number(&row.cuda);
        check.source(row, &row.source);
        assert!(row.data_center_only.iter().all(|branch| row.branches.contains(branch)), "{row:?}");
    }
    check.source(&driver.forward, &driver.forward.source);
    for row in &super::cuda().toolkit {
        check.numbers([&row.cuda].into_iter().chain(&row.ptx_isa));
        check.source(row, &row.source);
    }
    check.done();
    assert!(driver.branch.is_sorted_by(|a, b| a.branch < b.branch));
}

#[test]
fn rows_of_gpus_and_products_are_sound() {
    let mut check = Check::default();
    let gpus = super::gpus();
    let read = |text: &str| text.parse::<SystemVersion>().expect("checked above");
    for row in &gpus.capability {
        check.numbers([&row.capability].into_iter().chain(&row.first_cuda).chain(&row.last_cuda));
        check.source(row, &row.source);
    }
    for row in &gpus.family {
        check.numbers(&row.capabilities);
        check.source(row, &row.source);
        assert!(row.target.parse::<crate::rules::machine_code::Target>().is_ok(), "{row:?}");
    }
    let products = super::products();
    let brands = ["data-center", "professional", "geforce", "jetson", "unknown"];
    for row in &products.product {
        check.number(&row.capability);
        check.source(row, &row.source);
        assert!(brands.contains(&row.brand.as_str()), "{row:?}");
        assert!(gpus.capability.iter().any(|known| known.capability == row.capability), "{row:?}");
    }
    for row in &products.ambiguous {
        check.numbers(row.choices.iter().map(|choice| &choice.capability));
        assert!(brands.contains(&row.brand.as_str()), "{row:?}");
        check.source(row, &row.source);
    }
    for row in &products.first_driver {
        check.source(row, &row.source);
    }
    for row in &products.instance {
        check.source(row, &row.source);
    }
    check.done();
    assert!(gpus.capability.is_sorted_by(|a, b| read(&a.capability) < read(&b.capability)));
}

#[test]
fn rows_of_libraries_are_sound() {
    let mut check = Check::default();
    let libraries = super::libraries();
    let pep440 = |text: &String| text.parse::<pep440_rs::Version>().is_ok();
    let name = |text: &String| {
        crate::name::Name::new(text).is_ok_and(|name| name.as_str() == text.as_str())
    };
    for row in &libraries.library {
        check.source(row, &row.source);
        assert!(name(&row.name) && row.from.iter().chain(&row.below).all(pep440), "{row:?}");
    }
    for row in &libraries.floor {
        check.source(row, &row.source);
        check.numbers(row.capability.iter().chain(&row.capability_below));
        assert!(row.names.iter().all(name), "{row:?}");
        assert!(row.from.iter().chain(&row.below).all(pep440), "{row:?}");
        let bounded = row.capability.is_some() || row.capability_below.is_some();
        assert!(bounded || row.no_tegra, "{row:?}");
    }
    for row in &libraries.shared {
        check.source(row, &row.source);
        assert!(row.names.iter().all(name), "{row:?}");
    }
    for row in &libraries.placeholder {
        check.source(row, &row.source);
        assert!(row.names.iter().all(name), "{row:?}");
    }
    for row in &libraries.cudnn_release {
        check.source(row, &row.source);
        check.numbers(&row.versions);
    }
    check.source(&libraries.cudnn_abi, &libraries.cudnn_abi.source);
    check.done();
}

#[test]
fn rows_of_images_are_sound() {
    let mut check = Check::default();
    let images = super::images();
    let known = |os: &String| images.os.iter().any(|row| row.name == *os);
    for row in &images.image {
        check.number(&row.cuda);
        check.source(row, &row.source);
        assert!(row.os.iter().all(known), "{row:?}");
    }
    for row in &images.cudnn {
        check.numbers([&row.cuda, &row.cudnn]);
        check.source(row, &row.source);
        assert!(row.os.iter().all(known), "{row:?}");
    }
    for row in &images.requirement {
        check.numbers(&row.cuda);
        check.source(row, &row.source);
        assert!(row.os.iter().all(known), "{row:?}");
    }
    for row in &images.os {
        check.numbers([&row.glibc].into_iter().chain(&row.python));
        check.source(row, &row.source);
    }
    check.done();
}
