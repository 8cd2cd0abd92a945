import Platform
import Synchronization

/// What tells a changed or replaced file from the one before, without reading it.
package struct FileStamp: Equatable, Sendable {
    private let device, inode, size, modified, changed: Int64
    private let modifiedNanoseconds, changedNanoseconds: Int64

    /// The stamp of the file to which the path leads; `nil` if there is none, or it cannot be found out.
    package init?(of path: String) {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        device = Int64(bitPattern: UInt64(status.st_dev))
        inode = Int64(bitPattern: UInt64(status.st_ino))
        size = Int64(status.st_size)
        modified = Int64(status.modification.tv_sec)
        modifiedNanoseconds = Int64(status.modification.tv_nsec)
        changed = Int64(status.change.tv_sec)
        changedNanoseconds = Int64(status.change.tv_nsec)
    }
}

/// A value that is read from files, and read again after one of them was changed or replaced.
///
/// A process that works for days uses it for whatever an operator may replace meanwhile.
package final class ReadFiles<Value: Sendable>: Sendable {
    private struct State {
        var value: Value
        var files: [String]
        /// Of the files, from before they were read.
        var stamps: [FileStamp?]
        /// Of files that could not be read.
        var failed: [FileStamp?]?
    }

    private let read: @Sendable () throws -> (value: Value, files: [String])
    private let state: Mutex<State>

    /// Reads the files for the first time.
    ///
    /// - Parameters:
    ///   - files: Their paths.
    ///   - first: Reads and checks them.
    ///   - again: Reads and checks them after a change. It can be of other files than before.
    /// - Throws: The error of `first`.
    package init(
        _ files: [String],
        first: () throws -> Value,
        again: @escaping @Sendable () throws -> (value: Value, files: [String])
    ) throws {
        let stamps = files.map(FileStamp.init)
        state = Mutex(State(value: try first(), files: files, stamps: stamps))
        read = again
    }

    /// The value as it was last read.
    package var value: Value { state.withLock(\.value) }

    /// Reads the files again if they have changed.
    ///
    /// If that fails, the value stays, and the next call tries again.
    ///
    /// - Returns: The new value, or why it cannot be read, once for each change; otherwise `nil`.
    package func readAgain() -> Result<Value, any Error>? {
        state.withLock { state in
            let stamps = state.files.map(FileStamp.init)
            guard stamps != state.stamps else {
                state.failed = nil
                return nil
            }
            do {
                let (value, files) = try read()
                // Files of another name get the stamps of nothing, so that they are read once more.
                let isSame = files == state.files
                state = State(value: value, files: files, stamps: isSame ? stamps : files.map { _ in nil })
                return .success(value)
            } catch {
                guard state.failed != stamps else { return nil }
                state.failed = stamps
                return .failure(error)
            }
        }
    }
}
