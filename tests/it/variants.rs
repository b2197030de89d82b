//! Wheel variants (PEP 825): the one without properties is taken, the others are named.

use cuda_lock_testing::{Dist, Index, Manifest, Project};

use crate::BINARY;

#[test]
fn the_variant_without_properties_is_taken() {
    let server = Index::new()
        .release("demo", "1.0", Dist::wheel_for("py3-none-any-cu12"))
        .release("demo", "1.0", Dist::wheel_for("py3-none-any-null"))
        .serve();
    let project = Project::new(BINARY, Manifest::new(&server).depends(["demo==1.0"]));
    let _ = project.resolve(&[]).expect(0);
    let lock = project.read("pylock.toml").expect("written");
    assert!(lock.contains("demo-1.0-py3-none-any-null.whl") && !lock.contains("cu12"), "{lock}");
}

#[test]
fn a_release_of_variants_alone_is_there_and_says_why_it_is_not_taken() {
    let server = Index::new()
        .release("demo", "0.9", Dist::wheel())
        .release("demo", "1.0", Dist::wheel_for("py3-none-any-cu12"))
        .release("demo", "1.0", Dist::wheel_for("py3-none-any-cu13"))
        .serve();
    let project = Project::new(BINARY, Manifest::new(&server).depends(["demo==1.0"]));
    let run = project.resolve(&[]).expect(1);
    let said = "it is a variant wheel (PEP 825), for the variant 'cu12'";
    assert!(run.stderr.contains(said), "{}", run.stderr);
    assert!(!run.stderr.contains("there is no demo"), "{}", run.stderr);
    let open = Project::new(BINARY, Manifest::new(&server).depends(["demo"]));
    let _ = open.resolve(&[]).expect(0);
    assert_eq!(open.packages()["demo"], "0.9");
}
