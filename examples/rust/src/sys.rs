//! What of rondo.h the layer above uses, by hand.  Struct for struct, in the order of the header.
use std::os::raw::{c_char, c_void};

pub const ABI_VERSION: u32 = 1;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Text {
    pub data: *const c_char,
    pub size: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Ids {
    pub data: *const i32,
    pub size: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Mask {
    pub data: *const u8,
    pub size: usize,
}

#[repr(C)]
pub struct Error {
    pub struct_size: usize,
    pub status: i32,
    pub line: i32,
    pub column: i32,
    pub has_offset: i32,
    pub offset: u64,
    pub message: Text,
    pub source: Text,
    pub hint: Text,
    pub shown: Text,
    pub memory: *mut c_void,
}

#[repr(C)]
pub struct Library {
    pub state: [u64; 2],
}

/// Any of the handles: a struct of one number.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Handle {
    pub handle: u64,
}

#[repr(C)]
pub struct ModelOptions {
    pub struct_size: usize,
    pub path: Text,
    pub chat_template: Text,
    pub template_text: Text,
    pub tokenizer: Text,
    pub tokenizer_json: Text,
    pub tokenizer_config: Text,
    pub generation_config: Text,
    pub options: Text,
}

#[repr(C)]
pub struct Chat {
    pub struct_size: usize,
    pub messages: Text,
    pub tools: Text,
    pub documents: Text,
    pub kwargs: Text,
    pub options: Text,
}

extern "C" {
    pub fn rondo_abi_version() -> u32;
    pub fn rondo_error_clear(error: *mut Error);
    pub fn rondo_library_open(
        library: *mut Library,
        options: *const c_void,
        error: *mut Error,
    ) -> i32;
    pub fn rondo_library_close(library: *mut Library) -> i32;
    pub fn rondo_library_handles(library: *mut Library, count: *mut usize) -> i32;
    pub fn rondo_model_open(
        l: *mut Library,
        options: *const ModelOptions,
        model: *mut Handle,
        error: *mut Error,
    ) -> i32;
    pub fn rondo_model_close(l: *mut Library, model: Handle) -> i32;
    pub fn rondo_encode(
        l: *mut Library,
        model: Handle,
        chat: *const Chat,
        result: *mut Handle,
        error: *mut Error,
    ) -> i32;
    pub fn rondo_tokenize(
        l: *mut Library,
        m: Handle,
        text: Text,
        options: Text,
        result: *mut Handle,
        e: *mut Error,
    ) -> i32;
    pub fn rondo_detokenize(
        l: *mut Library,
        m: Handle,
        ids: Ids,
        options: Text,
        result: *mut Handle,
        e: *mut Error,
    ) -> i32;
    pub fn rondo_rollout_open(
        l: *mut Library,
        m: Handle,
        chat: *const Chat,
        rollout: *mut Handle,
        e: *mut Error,
    ) -> i32;
    pub fn rondo_rollout_complete(
        l: *mut Library,
        r: Handle,
        ids: Ids,
        result: *mut Handle,
        e: *mut Error,
    ) -> i32;
    pub fn rondo_rollout_extend(
        l: *mut Library,
        r: Handle,
        new: Text,
        options: Text,
        result: *mut Handle,
        e: *mut Error,
    ) -> i32;
    pub fn rondo_rollout_state(
        l: *mut Library,
        r: Handle,
        result: *mut Handle,
        e: *mut Error,
    ) -> i32;
    pub fn rondo_rollout_close(l: *mut Library, r: Handle) -> i32;
    pub fn rondo_result_text(l: *mut Library, result: Handle, text: *mut Text) -> i32;
    pub fn rondo_result_json(l: *mut Library, result: Handle, json: *mut Text) -> i32;
    pub fn rondo_result_ids(l: *mut Library, result: Handle, ids: *mut Ids) -> i32;
    pub fn rondo_result_sampled_mask(l: *mut Library, result: Handle, mask: *mut Mask) -> i32;
    pub fn rondo_result_close(l: *mut Library, result: Handle) -> i32;
}
