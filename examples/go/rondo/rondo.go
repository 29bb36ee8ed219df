// Package rondo is rondo from Go: chat messages to token ids and back.
//
// A thin layer over the C API.  Messages are JSON text, and so are the messages that come back; ids are []int32.  A Model may be
// used by any number of goroutines at once; into a Rollout one gets at a time.  Close what you open.
package rondo

/*
#cgo LDFLAGS: -lrondo
#include <stdlib.h>
#include "rondo.h"
static rondo_error new_error(void) { rondo_error error = RONDO_ERROR_INIT; return error; }
static rondo_chat new_chat(void) { rondo_chat chat = RONDO_CHAT_INIT; return chat; }
static rondo_model_options new_model_options(void) { rondo_model_options options = RONDO_MODEL_OPTIONS_INIT; return options; }
*/
import "C"

import (
	"errors"
	"unsafe"
)

// Error is what went wrong: a status of rondo.h, the line it is about (0: none), and all of it for people.
type Error struct {
	Status  int
	Line    int
	Message string
	Shown   string
}

func (e *Error) Error() string { return e.Shown }

// Encoded is a prompt as ids; both slices have an entry per id.
type Encoded struct {
	IDs         []int32
	SampledMask []byte
}

// Model is a template and a tokenizer, with a library of its own.
type Model struct {
	library *C.rondo_library
	handle  C.rondo_model
}

// Rollout is a conversation that grows as ids.
type Rollout struct {
	model  *Model
	handle C.rondo_rollout
}

// memory is what a call reads: copies of Go's texts and ids, of which C may keep structs.  The library keeps nothing of them.
type memory []unsafe.Pointer

func (m *memory) copied(data []byte) unsafe.Pointer {
	place := C.CBytes(data)
	*m = append(*m, place)
	return place
}

func (m *memory) free() {
	for _, place := range *m {
		C.free(place)
	}
}

func (m *memory) text(from string) C.rondo_text {
	return C.rondo_text{data: (*C.char)(m.copied([]byte(from))), size: C.size_t(len(from))}
}

func (m *memory) ids(from []int32) C.rondo_ids {
	if len(from) == 0 {
		return C.rondo_ids{}
	}
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(&from[0])), 4*len(from))
	return C.rondo_ids{data: (*C.int32_t)(m.copied(bytes)), size: C.size_t(len(from))}
}

func goString(from C.rondo_text) string { return C.GoStringN(from.data, C.int(from.size)) }

func goIDs(from C.rondo_ids) []int32 {
	if from.size == 0 {
		return nil
	}
	return append([]int32(nil), unsafe.Slice((*int32)(unsafe.Pointer(from.data)), int(from.size))...)
}

// checked calls work with a place for an error, and takes what stands there.
func checked(work func(*C.rondo_error) C.rondo_status) error {
	place := C.new_error()
	status := work(&place)
	if status == C.RONDO_OK {
		return nil
	}
	told := &Error{int(status), int(place.line), goString(place.message), goString(place.shown)}
	C.rondo_error_clear(&place)
	return told
}

// Open loads a model from a folder or a .gguf.
func Open(path string) (*Model, error) {
	if C.rondo_abi_version() != C.RONDO_ABI_VERSION {
		return nil, errors.New("another librondo is linked than was compiled with")
	}
	library := (*C.rondo_library)(C.calloc(1, C.size_t(unsafe.Sizeof(C.rondo_library{}))))
	model := &Model{library: library}
	err := checked(func(place *C.rondo_error) C.rondo_status { return C.rondo_library_open(library, nil, place) })
	if err == nil {
		var given memory
		defer given.free()
		options := C.new_model_options()
		options.path = given.text(path)
		err = checked(func(place *C.rondo_error) C.rondo_status {
			return C.rondo_model_open(library, &options, &model.handle, place)
		})
	}
	if err != nil {
		model.Close()
		return nil, err
	}
	return model, nil
}

// Close ends the model and its rollouts.  Calls after it fail with an error; a second Close does nothing.
func (m *Model) Close() {
	if m.library == nil {
		return
	}
	C.rondo_library_close(m.library)
	C.free(unsafe.Pointer(m.library))
	m.library = nil // which the library answers with an error
}

// answer reads a result of work and closes it.
func (m *Model) answer(work func(*C.rondo_result, *C.rondo_error) C.rondo_status, read func(C.rondo_result)) error {
	var result C.rondo_result
	err := checked(func(place *C.rondo_error) C.rondo_status { return work(&result, place) })
	if err == nil {
		read(result)
		C.rondo_result_close(m.library, result)
	}
	return err
}

func (m *Model) textOf(result C.rondo_result) string {
	var out C.rondo_text
	C.rondo_result_text(m.library, result, &out)
	return goString(out)
}

func (m *Model) jsonOf(result C.rondo_result) string {
	var out C.rondo_text
	C.rondo_result_json(m.library, result, &out)
	return goString(out)
}

func (m *Model) idsOf(result C.rondo_result) []int32 {
	var out C.rondo_ids
	C.rondo_result_ids(m.library, result, &out)
	return goIDs(out)
}

func (m *Model) encodedOf(result C.rondo_result) Encoded {
	var mask C.rondo_mask
	C.rondo_result_sampled_mask(m.library, result, &mask)
	return Encoded{m.idsOf(result), C.GoBytes(unsafe.Pointer(mask.data), C.int(mask.size))}
}

// Encode makes the prompt of messages, a JSON array.
func (m *Model) Encode(messages string) (out Encoded, err error) {
	var given memory
	defer given.free()
	chat := C.new_chat()
	chat.messages = given.text(messages)
	err = m.answer(func(result *C.rondo_result, place *C.rondo_error) C.rondo_status {
		return C.rondo_encode(m.library, m.handle, &chat, result, place)
	}, func(result C.rondo_result) { out = m.encodedOf(result) })
	return out, err
}

// Tokenize gives the ids of a text.
func (m *Model) Tokenize(from string) (out []int32, err error) {
	var given memory
	defer given.free()
	err = m.answer(func(result *C.rondo_result, place *C.rondo_error) C.rondo_status {
		return C.rondo_tokenize(m.library, m.handle, given.text(from), C.rondo_text{}, result, place)
	}, func(result C.rondo_result) { out = m.idsOf(result) })
	return out, err
}

// Detokenize gives the text of ids.
func (m *Model) Detokenize(from []int32) (out string, err error) {
	var given memory
	defer given.free()
	err = m.answer(func(result *C.rondo_result, place *C.rondo_error) C.rondo_status {
		return C.rondo_detokenize(m.library, m.handle, given.ids(from), C.rondo_text{}, result, place)
	}, func(result C.rondo_result) { out = m.textOf(result) })
	return out, err
}

// OpenHandles is how many handles are open beside the model's.
func (m *Model) OpenHandles() int {
	var count C.size_t
	C.rondo_library_handles(m.library, &count)
	return int(count) - 1
}

// Rollout begins a conversation with the prompt of messages.
func (m *Model) Rollout(messages string) (*Rollout, error) {
	var given memory
	defer given.free()
	chat := C.new_chat()
	chat.messages = given.text(messages)
	rollout := &Rollout{model: m}
	err := checked(func(place *C.rondo_error) C.rondo_status {
		return C.rondo_rollout_open(m.library, m.handle, &chat, &rollout.handle, place)
	})
	return rollout, err
}

// Close ends the rollout; a second one does nothing.
func (r *Rollout) Close() { C.rondo_rollout_close(r.model.library, r.handle) }

// Complete takes what was sampled behind the ids, and gives the message as JSON text.
func (r *Rollout) Complete(completion []int32) (out string, err error) {
	var given memory
	defer given.free()
	err = r.model.answer(func(result *C.rondo_result, place *C.rondo_error) C.rondo_status {
		return C.rondo_rollout_complete(r.model.library, r.handle, given.ids(completion), result, place)
	}, func(result C.rondo_result) { out = r.model.jsonOf(result) })
	return out, err
}

// Extend appends what follows, a JSON array of messages, and gives the ids that were appended.
func (r *Rollout) Extend(newMessages string) (out []int32, err error) {
	var given memory
	defer given.free()
	err = r.model.answer(func(result *C.rondo_result, place *C.rondo_error) C.rondo_status {
		return C.rondo_rollout_extend(r.model.library, r.handle, given.text(newMessages), C.rondo_text{}, result, place)
	}, func(result C.rondo_result) { out = r.model.idsOf(result) })
	return out, err
}

// State is all ids so far, and which of them were sampled.
func (r *Rollout) State() (out Encoded, err error) {
	err = r.model.answer(func(result *C.rondo_result, place *C.rondo_error) C.rondo_status {
		return C.rondo_rollout_state(r.model.library, r.handle, result, place)
	}, func(result C.rondo_result) { out = r.model.encodedOf(result) })
	return out, err
}
