import FoundationEssentials
import Glibc
import Workers

/// Writes files so that a reader sees all of one or nothing: beside it, synced, then renamed over it.
enum WholeFile {
    /// - `mode`: The file's permissions from its first byte on.
    static func write(_ bytes: [UInt8], to path: String, mode: mode_t = 0o644) throws(SimulatorError) {
        let draft = path + ".new"
        let descriptor = unsafe open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode)
        guard descriptor >= 0 else { throw failure("Creating", draft) }
        defer { close(descriptor) }
        guard fchmod(descriptor, mode) == 0 else { throw failure("Setting the permissions of", draft) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { throw failure("Writing", draft) }
            rest = rest.dropFirst(written)
        }
        guard fsync(descriptor) == 0 else { throw failure("Syncing", draft) }
        guard unsafe rename(draft, path) == 0 else { throw failure("Renaming a draft to", path) }
    }

    static func write(_ text: String, to path: String, mode: mode_t = 0o644) throws(SimulatorError) {
        try write(Array(text.utf8), to: path, mode: mode)
    }

    /// The file's bytes, or `nil` when there is none.
    static func read(_ path: String) throws(SimulatorError) -> [UInt8]? {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        do {
            return Array(try Data(contentsOf: URL(filePath: path)))
        } catch {
            throw SimulatorError(.input, "Reading \(path): \(error)")
        }
    }

    /// Removing what is not there is fine.
    static func remove(_ path: String) throws(SimulatorError) {
        guard unsafe unlink(path) == 0 || errno == ENOENT else { throw failure("Removing", path) }
    }

    private static func failure(_ action: String, _ path: String) -> SimulatorError {
        SimulatorError(.output, "\(action) \(path): \(systemErrorText(errno))")
    }
}
