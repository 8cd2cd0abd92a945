package import AppStoreModel

/// The streams of a job, at least one, in the order of the registry.
package struct JobStreams: Equatable, Sendable {
    package let all: [any AppStoreStream]

    package init(all: [any AppStoreStream]) {
        self.all = all
    }

    package var names: [StreamName] { all.map(\.name) }

    /// The section of one stream; `nil` when the job does not name it.
    package subscript(name: StreamName) -> (any AppStoreStream)? { all.first { $0.name == name } }

    /// The section of one stream; `nil` when the job does not name it.
    package subscript<Stream: AppStoreStream>(type: Stream.Type) -> Stream? {
        all.lazy.compactMap { $0 as? Stream }.first
    }

    /// The streams whose items come from `source`.
    package func names(with source: ItemSource) -> [StreamName] {
        all.filter { $0.items == source }.map(\.name)
    }

    package static func == (left: JobStreams, right: JobStreams) -> Bool {
        left.all.count == right.all.count && zip(left.all, right.all).allSatisfy { $0.isEqual(to: $1) }
    }
}
