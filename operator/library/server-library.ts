// A library in the server's API.

export interface ManagedBy {
  kind: string;
  namespace: string;
  name: string;
  uid: string;
}

export interface LastScan {
  id: string;
  state: string;
  finishedAt?: string | null;
  added: number;
  updated: number;
  missing: number;
}

/** The members that are used here. */
export interface ServerLibrary {
  id: string;
  name: string;
  order: number;
  state: string;
  folders: { storageId: string; storageName?: string; path?: string; state: string }[];
  settings: Record<string, unknown>;
  access?: Record<string, unknown>;
  managedBy?: ManagedBy | null;
  /** Fields that the resource declared when it was last sent. */
  managedFields?: string[];
  itemCounts: Record<string, number>;
  sizeBytes: number;
  lastScan?: LastScan | null;
}
