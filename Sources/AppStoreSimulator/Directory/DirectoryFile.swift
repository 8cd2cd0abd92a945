import Basics
import FoundationEssentials
import Platform

/// Reads, writes and removes the files of the simulator's directory.
enum DirectoryFile {
    /// Writes the whole file or changes nothing; see ``WholeFile``.
    ///
    /// - `mode`: The permissions of the file from the beginning.
    static func write(_ bytes: [UInt8], to path: String, mode: UInt32 = 0o644) throws(SimulatorError) {
        do {
            try WholeFile.write(bytes, to: path, mode: mode)
        } catch {
            throw SimulatorError(.output, "\(error.step == .create ? "Creating" : "Writing") \(path): \(error.reason)")
        }
    }

    static func write(_ text: String, to path: String, mode: UInt32 = 0o644) throws(SimulatorError) {
        try write(Array(text.utf8), to: path, mode: mode)
    }

    /// The file's bytes, or `nil` when there is no file.
    static func read(_ path: String) throws(SimulatorError) -> [UInt8]? {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        do {
            return Array(try Data(contentsOf: URL(filePath: path)))
        } catch {
            throw SimulatorError(.input, "Reading \(path): \(error)")
        }
    }

    /// Removes the file if it exists.
    static func remove(_ path: String) throws(SimulatorError) {
        let (folder, name) = OpenDirectory.split(path)
        guard let directory = OpenDirectory(path: folder), directory.remove(name) else {
            throw SimulatorError(.output, "Removing \(path): \(systemErrorText(errno))")
        }
    }
}
