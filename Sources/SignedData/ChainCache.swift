import Glibc
import Synchronization

/// Good verdicts by the exact header text they were given for.
///
/// A record's chain costs two P-384 signatures, its own signature one P-256: with the verdict at hand only the latter
/// remains. The header text holds all of `x5c`, so equal text is an equal chain. Bad verdicts are not kept, so nobody
/// can fill the cache with them.
final class ChainCache: Sendable {
    private let capacity: Int
    /// The one used last comes first: nearly every record has the header of the record before.
    private let headers = Mutex<[JudgedHeader]>([])

    /// - Parameter capacity: How many headers at most; Apple uses a handful of leaves at a time.
    init(capacity: Int = 256) {
        self.capacity = capacity
    }

    subscript(text: Span<UInt8>) -> JudgedHeader? {
        headers.withLock { headers in
            guard let place = headers.firstIndex(where: { $0.text.isEqual(to: text) }) else { return nil }
            if place > 0 { headers.insert(headers.remove(at: place), at: 0) }
            return headers[0]
        }
    }

    var count: Int { headers.withLock { $0.count } }

    func insert(_ header: JudgedHeader) {
        headers.withLock { headers in
            // Two threads may have judged the same one.
            guard !headers.contains(where: { $0.text == header.text }) else { return }
            if headers.count == capacity { headers.removeLast() }
            headers.insert(header, at: 0)
        }
    }
}

extension [UInt8] {
    /// Compares as fast as memory is read, where `==` goes byte by byte.
    fileprivate func isEqual(to other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        return unsafe withUnsafeBytes { mine in
            unsafe other.withUnsafeBytes { other in
                guard let mine = mine.baseAddress, let start = other.baseAddress else { return true }
                return unsafe memcmp(mine, start, other.count) == 0
            }
        }
    }
}
