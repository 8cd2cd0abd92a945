import AppStoreModel
import JobSyntax
import Streams

extension JobFileReader {
    /// Reads the streams, and reports those that Apple does not offer in the job's environment.
    func streams(_ file: Section, _ environment: AppStoreEnvironment) -> JobStreams? {
        let keys = AllStreams.names.map(\.rawValue)
        let expected = "it must name at least one of \(keys.joined(separator: ", "))"
        guard let section = file.section("streams", keys: keys, required: expected) else { return nil }
        if !keys.contains(where: section.has) { problems.report(section.place, "names no stream", expected) }
        let read = AllStreams.types.compactMap { type in
            section.section(type.name.rawValue, keys: type.keys).map {
                (section: $0, stream: type.init($0) as any AppStoreStream)
            }
        }
        for (section, stream) in read where environment == .sandbox && !type(of: stream).isInSandbox {
            problems.report(
                section.place,
                "is not available in Sandbox, because Apple offers this call only in Production",
                "remove it, or set app.environment to Production"
            )
        }
        let streams = JobStreams(all: read.map(\.stream))
        // With an unreadable section, the list of streams is incomplete and cannot be cross-checked.
        guard read.count == keys.count(where: section.has) else { return streams }
        for (section, stream) in read { stream.check(section, beside: streams) }
        return streams
    }
}
