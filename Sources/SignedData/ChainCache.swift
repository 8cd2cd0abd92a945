import Synchronization

/// Good verdicts by the exact header text they were given for.
///
/// A record's chain costs two P-384 signatures, its own signature one P-256: with the verdict at hand only the latter
/// remains. The header text holds all of `x5c`, so equal text is an equal chain. Bad verdicts are not kept, so nobody
/// can fill the cache with them.
final class ChainCache: Sendable {
    private struct Entries {
        var verdicts: [HeaderText: ChainVerdict] = [:]
        /// Headers in the order they came; `next` is the one to be replaced.
        var headers: [HeaderText] = []
        var next = 0
    }

    private let capacity: Int
    private let entries = Mutex(Entries())

    /// - Parameter capacity: How many headers at most; Apple uses a handful of leaves at a time.
    init(capacity: Int = 256) {
        self.capacity = capacity
    }

    subscript(header: [UInt8]) -> ChainVerdict? {
        let key = HeaderText(bytes: header)
        return entries.withLock { $0.verdicts[key] }
    }

    var count: Int { entries.withLock { $0.verdicts.count } }

    func insert(_ verdict: ChainVerdict, for header: [UInt8]) {
        let header = HeaderText(bytes: header)
        entries.withLock { entries in
            guard entries.verdicts.updateValue(verdict, forKey: header) == nil else { return }
            if entries.headers.count < capacity {
                entries.headers.append(header)
            } else {
                entries.verdicts[entries.headers[entries.next]] = nil
                entries.headers[entries.next] = header
                entries.next = (entries.next + 1) % capacity
            }
        }
    }
}

/// A header's bytes as a dictionary key.
///
/// `Array` feeds a hasher byte by byte, which for 4,400 of them takes a quarter of a signature's time.
private struct HeaderText: Hashable {
    let bytes: [UInt8]

    func hash(into hasher: inout Hasher) {
        unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    }
}
