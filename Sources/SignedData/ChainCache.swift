import Platform
import Synchronization

/// Verified chains, found by the exact text of their header.
///
/// Verifying a record takes two P-384 verifications for its chain and one P-256 verification for its signature. With a
/// cached chain it takes only the last one. The header text contains all of `x5c`, so equal text means an equal chain.
/// Rejected chains are not cached, so that they cannot fill the cache.
final class ChainCache: Sendable {
    private let capacity: Int
    /// The last used header comes first: nearly every record has the header of the previous one.
    private let headers = Mutex<[VerifiedHeader]>([])

    /// - Parameter capacity: The most headers; Apple uses few leaf certificates at a time.
    init(capacity: Int = 256) {
        self.capacity = capacity
    }

    subscript(text: Span<UInt8>) -> VerifiedHeader? {
        headers.withLock { headers in
            guard let index = headers.firstIndex(where: { $0.text.isEqual(to: text) }) else { return nil }
            if index > 0 { headers.insert(headers.remove(at: index), at: 0) }
            return headers[0]
        }
    }

    var count: Int { headers.withLock { $0.count } }

    func insert(_ header: VerifiedHeader) {
        headers.withLock { headers in
            // Two threads may have verified the same header.
            guard !headers.contains(where: { $0.text == header.text }) else { return }
            if headers.count == capacity { headers.removeLast() }
            headers.insert(header, at: 0)
        }
    }
}

extension [UInt8] {
    /// Compares with memcmp, because `==` compares byte by byte.
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
