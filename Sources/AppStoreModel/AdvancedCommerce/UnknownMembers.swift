/// The members of requests that Apple does not document, with the number of each.
package struct UnknownMembers: Sendable, Equatable {
    package struct Name: Hashable, Comparable, Sendable {
        /// Apple's name of the object that has the member.
        package let object: String
        package let member: String

        package static func < (left: Self, right: Self) -> Bool {
            (left.object, left.member) < (right.object, right.member)
        }
    }

    /// The most names that are counted one by one, so that memory has a bound.
    private static let mostNames = 100

    package private(set) var counts: [Name: Int] = [:]
    /// Members with further names.
    package private(set) var others = 0

    package init() {}

    mutating func note(_ member: String, of object: String) {
        add(1, of: Name(object: object, member: String(member.prefix(60))))
    }

    /// Adds the counts of other requests.
    package mutating func add(_ more: UnknownMembers) {
        for (name, count) in more.counts { add(count, of: name) }
        others += more.others
    }

    private mutating func add(_ count: Int, of name: Name) {
        if counts[name] != nil || counts.count < Self.mostNames {
            counts[name, default: 0] += count
        } else {
            others += count
        }
    }
}
