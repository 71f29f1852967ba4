/** The film that texts are extracted from. */
export interface TextSource {
  fileId: string;
  version: string;
  container: string;
  /** The file's clock at the beginning of the film, ms. */
  startMs: number;
  /** Absolute path. */
  file: string;
}
