// A library as the server's API tells it.

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

/** As the API answers it; only what is looked at here. */
export interface ServerLibrary {
  id: string;
  name: string;
  order: number;
  state: string;
  folders: { storageId: string; storageName?: string; path?: string; state: string }[];
  settings: Record<string, unknown>;
  access?: Record<string, unknown>;
  managedBy?: ManagedBy | null;
  /** What the resource said when it was last sent. */
  managedFields?: string[];
  itemCounts: Record<string, number>;
  sizeBytes: number;
  lastScan?: LastScan | null;
}
