package import AppStoreModel
import Streams

extension JobFile {
    /// The settings that determine a stream's requests, as text.
    ///
    /// When the text changes, old cursors become invalid.
    ///
    /// The text does not depend on the order of keys and list entries, or on the time of the run. It is empty for a
    /// stream without filters and for one that the job does not name.
    package func queryFingerprint(for stream: StreamName) -> String {
        (streams[stream]?.filters ?? [:])
            .compactMap { key, value in value.map { "\(key)=\($0)" } }
            .sorted()
            .joined(separator: "&")
    }
}
