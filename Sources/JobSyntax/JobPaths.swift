import Platform

/// Makes the paths written in a job file absolute.
///
/// Relative paths start at the directory of the job file.
package struct JobPaths {
    /// The job file itself.
    package let jobFile: String
    private let directory: String
    private let bundleId: String?

    /// What stands in a path for the app's bundle ID.
    package static let bundleIdPlaceholder = "{bundleId}"

    /// - Parameter bundleId: The app's bundle ID, in place of ``bundleIdPlaceholder``; `nil` leaves the placeholder.
    package init(jobFile: String, bundleId: String? = nil) {
        self.bundleId = bundleId
        let parts = jobFile.split(separator: "/", omittingEmptySubsequences: false)
        let parent = parts.count > 1 ? parts.dropLast().joined(separator: "/") + "/" : "."
        directory = Self.real(parent) ?? parent
        self.jobFile = Self.joined(directory, String(parts.last ?? ""))
    }

    /// The path, absolute and without empty or `.` components.
    ///
    /// `..` is kept, because after a symbolic link only the system can resolve it.
    package func absolute(_ written: String) -> String {
        let path = ofApp(written)
        return path.hasPrefix("/") ? Self.joined("", path) : Self.joined(directory, path)
    }

    /// The path or URL with the app's bundle ID in it.
    package func ofApp(_ written: String) -> String {
        bundleId.map { written.replacing(Self.bundleIdPlaceholder, with: $0) } ?? written
    }

    /// Whether two absolute paths name the same file according to their text; symbolic links are not resolved.
    package static func areSame(_ left: String, _ right: String) -> Bool {
        collapsed(left) == collapsed(right)
    }

    package static func joined(_ directory: String, _ name: String) -> String {
        let parts = "\(directory)/\(name)".split(separator: "/").filter { $0 != "." }
        return "/" + parts.joined(separator: "/")
    }

    private static func collapsed(_ path: String) -> [Substring] {
        path.split(separator: "/").reduce(into: []) { parts, part in
            if part == ".." { _ = parts.popLast() } else { parts.append(part) }
        }
    }

    /// The directory without symbolic links and `..`; `nil` if it cannot be resolved.
    private static func real(_ directory: String) -> String? {
        guard let resolved = unsafe realpath(directory, nil) else { return nil }
        defer { unsafe free(resolved) }
        return unsafe String(cString: resolved)
    }
}
