import type { Readable } from 'node:stream';

export interface StoredFile {
  name: string;
  bytes: number;
  at: Date;
}

/** Bytes `start` to `end` inclusive. */
export interface ByteRange {
  start?: number;
  end?: number;
}

/** There is no file with this name. */
export class NotStored extends Error {}

/** The destination does not answer, refuses or is full; the original error is the cause. */
export class DestinationUnavailable extends Error {
  readonly state: 'unreachable' | 'read-only' | 'full';
  constructor(state: 'unreachable' | 'read-only' | 'full', message: string, options?: ErrorOptions) {
    super(message, options);
    this.state = state;
  }
}

/**
 * Where backups are stored. Names are relative and follow the manifest's fixed patterns; files appear whole or not at
 * all.
 */
export interface Destination {
  /** Throws `NotStored`. */
  read(name: string, range?: ByteRange): Promise<Readable>;
  /** Undefined if there is no such file. */
  size(name: string): Promise<number | undefined>;
  write(name: string, body: Readable | Buffer): Promise<void>;
  list(prefix: string): AsyncIterable<StoredFile>;
  remove(name: string): Promise<void>;
  /** Free bytes; undefined if unknown. */
  free(): Promise<number | undefined>;
}
