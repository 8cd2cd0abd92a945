/// Remembers the member names of one object, byte for byte.
///
/// Swift's own `String` equality would take U+212A for `K`, where PostgreSQL sees two names.
/// Objects are small, so comparing is faster than hashing, until one is not: then a set keeps the cost linear.
struct DistinctNames {
    private static let comparedOneByOne = 24

    private var hashed: Set<ExactText> = []

    /// Returns whether `name` is new among the names of `members` and is remembered now.
    mutating func insert(_ name: String, after members: [JSONObject.Member]) -> Bool {
        guard members.count >= Self.comparedOneByOne else {
            return !members.contains { $0.key.isByteEqual(to: name) }
        }
        if hashed.isEmpty {
            hashed = Set(members.map { ExactText($0.key) })
        }
        return hashed.insert(ExactText(name)).inserted
    }
}
