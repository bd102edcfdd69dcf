//! On macOS an extension module finds the interpreter's symbols when it is loaded; the linker must allow that.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
