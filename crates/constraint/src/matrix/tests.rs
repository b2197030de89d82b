//! What holds between rows. That every row can be read, has a source and leaves no gap is checked when they are compiled in.

#[test]
fn the_assumed_python_is_one_that_is_known() {
    let python = super::python();
    assert!(python.minor.iter().any(|row| row.version == python.assumed.version));
}

#[test]
fn rows_of_drivers_are_in_order() {
    let driver = super::driver();
    assert!(driver.branch.is_sorted_by(|a, b| a.branch < b.branch));
    for row in &driver.forward_package {
        assert!(row.data_center_only.iter().all(|branch| row.branches.contains(branch)), "{row:?}");
    }
}

#[test]
fn rows_of_gpus_and_products_agree() {
    let gpus = super::gpus();
    assert!(gpus.capability.is_sorted_by(|a, b| a.capability < b.capability));
    for row in &gpus.family {
        assert!(row.target.parse::<crate::rules::machine_code::Target>().is_ok(), "{row:?}");
    }
    let products = super::products();
    let brands = ["data-center", "professional", "geforce", "jetson", "unknown"];
    for row in &products.product {
        assert!(brands.contains(&row.brand.as_str()), "{row:?}");
        assert!(gpus.capability.iter().any(|known| known.capability == row.capability), "{row:?}");
    }
    for row in &products.ambiguous {
        assert!(brands.contains(&row.brand.as_str()), "{row:?}");
    }
}

#[test]
fn every_floor_of_a_library_says_something() {
    for row in &super::libraries().floor {
        let bounded = row.capability.is_some() || row.capability_below.is_some();
        assert!(bounded || row.no_tegra, "{row:?}");
    }
}

#[test]
fn images_are_of_known_systems() {
    let images = super::images();
    let known = |os: &String| images.os.iter().any(|row| row.name == *os);
    assert!(images.image.iter().flat_map(|row| &row.os).all(known));
    assert!(images.cudnn.iter().flat_map(|row| &row.os).all(known));
    assert!(images.requirement.iter().flat_map(|row| &row.os).all(known));
}

/// Rows about one distribution are found without the others.
#[test]
fn a_name_finds_its_rows_and_no_others() {
    let name = |text| crate::name::Name::new(text).expect("valid");
    let rows = &super::companions().torch;
    let audio = rows.of(name("torchaudio"));
    assert!(!audio.is_empty() && audio.iter().all(|row| row.name == name("torchaudio")));
    assert_eq!(rows.iter().filter(|row| row.name == name("torchaudio")).count(), audio.len());
    assert!(rows.of(name("six")).is_empty());
    assert!(rows.names().is_sorted());
}
