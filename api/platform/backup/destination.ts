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

/** The name is not there. */
export class NotStored extends Error {}

/** It does not answer, refuses or is full; what it said is the cause. */
export class DestinationUnavailable extends Error {
  readonly state: 'unreachable' | 'read-only' | 'full';
  constructor(state: 'unreachable' | 'read-only' | 'full', message: string, options?: ErrorOptions) {
    super(message, options);
    this.state = state;
  }
}

/** Where backups lie. Names are relative, of the fixed patterns of the manifest; a file appears whole or not at all. */
export interface Destination {
  /** Throws `NotStored`. */
  read(name: string, range?: ByteRange): Promise<Readable>;
  /** Undefined when it is not there. */
  size(name: string): Promise<number | undefined>;
  write(name: string, body: Readable | Buffer): Promise<void>;
  list(prefix: string): AsyncIterable<StoredFile>;
  remove(name: string): Promise<void>;
  /** Bytes; undefined where nobody knows. */
  free(): Promise<number | undefined>;
}
