import CLibFuzzer
import FuzzTargets
import Glibc

// fuzzer TARGET [OPTION OF LIBFUZZER | CORPUS]...     or `fuzzer --list`
//
// Built and started by scripts/fuzz. A broken promise ends the process as a crash does, so that libFuzzer keeps the input.

let arguments = CommandLine.arguments.dropFirst()
guard arguments.first != "--list" else {
    for target in FuzzTarget.all { print(target.name) }
    exit(EXIT_SUCCESS)
}
guard let chosen = FuzzTarget.all.first(where: { $0.name == arguments.first }) else {
    print("usage: fuzzer \(FuzzTarget.all.map(\.name).joined(separator: "|")) [-option=value]... [corpus]...")
    exit(EX_USAGE)
}

/// What the C callback, which cannot capture anything, asks.
nonisolated let target = chosen

let options = ["fuzzer", "-max_len=\(target.longestInput)"] + arguments.dropFirst()
var count = Int32(options.count)
let pointers = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: options.count + 1)
unsafe pointers.initialize(repeating: nil, count: options.count + 1)
for (place, option) in options.enumerated() { unsafe pointers[place] = strdup(option) }
var values: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = unsafe pointers

exit(
    unsafe LLVMFuzzerRunDriver(&count, &values) { data, size in
        do {
            try unsafe target.check(Array(UnsafeBufferPointer(start: data, count: size)))
        } catch {
            fatalError("\(target): \(error)")
        }
        return 0
    }
)
