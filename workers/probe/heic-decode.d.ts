declare module 'heic-decode' {
  /** Decodes the main picture of a HEIC file into RGBA. Throws for any other file. */
  export default function decode(given: {
    buffer: Uint8Array;
  }): Promise<{ width: number; height: number; data: Uint8ClampedArray }>;
}
