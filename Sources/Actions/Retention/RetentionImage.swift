import AppStoreModel
import Basics
import CSVFormat
import Hashing
import JobFiles
import JobSyntax

/// A picture of a retention message.
struct RetentionImage: Equatable {
    /// As the input names it.
    let file: String
    /// Hexadecimal.
    let sha256: String
    /// FULL_SIZE or BULLET_POINT.
    let size: String

    /// Why a file cannot be sent, as a sentence about the file.
    struct Problem: Error, Equatable {
        let sentence: String
    }

    /// Reads and checks a file.
    ///
    /// - Parameters:
    ///   - file: As the input names it.
    ///   - directory: The folder in which a relative path begins.
    ///   - size: FULL_SIZE or BULLET_POINT.
    init(_ file: String, in directory: String, size: String) throws(Problem) {
        let bytes: [UInt8]
        do throws(CSVError) {
            bytes = try Self.bytes(at: Self.path(of: file, in: directory))
        } catch {
            throw Problem(sentence: error.description)
        }
        guard let header = PNGHeader(bytes) else { throw Problem(sentence: "\(file) is not a PNG file (4000161)") }
        guard !header.hasTransparency else {
            throw Problem(
                sentence:
                    "\(file) has an alpha channel or a transparent colour; Apple takes a PNG without transparency (4000161)"
            )
        }
        let found = "\(file) is \(header.width) x \(header.height) pixels"
        if size == "BULLET_POINT", (header.width, header.height) != (1_024, 1_024) {
            throw Problem(sentence: "\(found); a bullet point's image must be 1024 x 1024 (4000161)")
        }
        if size == "FULL_SIZE", header.width != 3_840 || !(160...2_160).contains(header.height) {
            throw Problem(
                sentence: "\(found); a full-size image must be 3840 pixels wide and 160 to 2160 high (4000161)"
            )
        }
        self.file = file
        self.sha256 = SHA256.digest(of: bytes).hexadecimal
        self.size = size
    }

    /// The identifier of the picture: a version 5 UUID of app and hash, so that the same picture has the same one.
    func identifier(for app: JobFile.App) -> String {
        let name = [app.bundleId, app.environment.rawValue, sha256].joined(separator: "\n")
        return UUIDText.text(of: RequestID.versionFive(in: Self.namespace, name))
    }

    /// The namespace of all identifiers of images.
    private static let namespace: [UInt8] = [
        0x3B, 0x9E, 0x51, 0xD7, 0x0C, 0x62, 0x4A, 0x18, 0xB5, 0x7F, 0x86, 0x2D, 0xE4, 0x90, 0x1A, 0xCF,
    ]

    /// The path of a file that the input names.
    static func path(of file: String, in directory: String) -> String {
        file.hasPrefix("/") ? file : JobPaths.joined(directory, file)
    }

    /// The bytes of a file.
    static func bytes(at path: String) throws(CSVError) -> [UInt8] {
        let file = try InputFile(path: path)
        var (bytes, chunk) = ([UInt8](), [UInt8](repeating: 0, count: 65_536))
        while true {
            let length = try file.fill(&chunk)
            if length == 0 { return bytes }
            bytes += chunk[..<length]
        }
    }
}
