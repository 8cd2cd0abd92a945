import Dispatch
import Glibc
import Synchronization

/// Reads a pipe on a separate thread, so that the writer never blocks.
final class OutputReader: Sendable {
    private struct Waiter {
        let words: String
        let line: CheckedContinuation<String?, Never>
    }

    private struct State {
        var lines: [String] = []
        /// The text after the last line end.
        var rest: [UInt8] = []
        var waiters: [Waiter] = []
        var isFinished = false
    }

    private let state = Mutex(State())
    private let end = Promise<Void>()

    /// - Parameter descriptor: The reading end. It is closed after the last writer has closed its end.
    init(_ descriptor: Int32) {
        DispatchQueue(label: "pipe \(descriptor)").async {
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while true {
                let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { break }
                self.take(buffer[..<count])
            }
            close(descriptor)
            self.finish()
        }
    }

    /// Everything so far, including an incomplete line.
    var text: String {
        state.withLock { state in
            state.lines.map { $0 + "\n" }.joined() + String(decoding: state.rest, as: UTF8.self)
        }
    }

    /// Waits for the first line that contains `words`; `nil` when the output ends without one.
    func line(with words: String) async -> String? {
        await withCheckedContinuation { waiter in
            let found = state.withLock { state -> String?? in
                if let line = state.lines.first(where: { $0.contains(words) }) { return .some(line) }
                if state.isFinished { return .some(nil) }
                state.waiters.append(Waiter(words: words, line: waiter))
                return nil
            }
            if let found { waiter.resume(returning: found) }
        }
    }

    func finished() async {
        await end.value
    }

    private func take(_ bytes: ArraySlice<UInt8>) {
        let served = state.withLock { state in
            var served: [(Waiter, String)] = []
            state.rest += bytes
            while let newline = state.rest.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: state.rest[..<newline], as: UTF8.self)
                state.rest.removeSubrange(...newline)
                state.lines.append(line)
                served += state.waiters.filter { line.contains($0.words) }.map { ($0, line) }
                state.waiters.removeAll { line.contains($0.words) }
            }
            return served
        }
        for (waiter, line) in served { waiter.line.resume(returning: line) }
    }

    private func finish() {
        let waiters = state.withLock { state in
            state.isFinished = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.line.resume(returning: nil) }
        end.fulfill {}
    }
}
