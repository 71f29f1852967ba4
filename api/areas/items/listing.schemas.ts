import { z } from 'zod';
import { fieldKinds, operators } from '#kernel/filter-fields.ts';
import { Bytes, Day, Id, ImageRef, Milliseconds, Timestamp } from '#kernel/schemas.ts';
import { AirsBefore, Availability, UserState } from './items.schemas.ts';

export const MissingChild = z
  .object({
    type: z.string(),
    title: z.string(),
    parentIndex: z.int().optional(),
    index: z.int().optional(),
    releasedOn: Day.optional(),
    aired: z.boolean(),
    externalIds: z.record(z.string(), z.string()),
    overview: z.string().optional(),
    agent: z.string(),
  })
  .meta({ id: 'MissingChild' });
export type MissingChild = z.output<typeof MissingChild>;

export interface TreeNode {
  id: string;
  type: string;
  title: string;
  index?: number | undefined;
  indexEnd?: number | undefined;
  airsBefore?: z.output<typeof AirsBefore> | undefined;
  runtimeMs?: number | undefined;
  releasedOn?: string | undefined;
  userState: UserState;
  availability?: 'unavailable' | 'missing' | undefined;
  thumb?: ImageRef | undefined;
  childCount?: number | undefined;
  truncated?: boolean | undefined;
  children?: TreeNode[] | undefined;
}
export const TreeNode: z.ZodType<TreeNode, TreeNode> = z
  .object({
    id: Id,
    type: z.string(),
    title: z.string(),
    index: z.int().optional(),
    indexEnd: z.int().optional(),
    airsBefore: AirsBefore.optional(),
    runtimeMs: Milliseconds.optional(),
    releasedOn: Day.optional(),
    userState: UserState,
    availability: Availability.optional(),
    thumb: ImageRef.optional(),
    childCount: z.int().optional(),
    truncated: z.boolean().optional().describe('Its children end before the last one'),
    children: z.array(z.lazy((): z.ZodType<TreeNode, TreeNode> => TreeNode)).optional(),
  })
  .meta({ id: 'TreeNode' });

export const FieldInfo = z
  .object({
    name: z.string(),
    label: z.string(),
    kind: z.enum(fieldKinds),
    types: z.array(z.string()),
    operators: z.array(z.enum(operators)),
    values: z.array(z.string()).optional().describe('Of an enum with a closed list'),
    sortable: z.boolean(),
    indexed: z.boolean(),
    facet: z.boolean(),
    mine: z.boolean().describe("The caller's own state"),
    custom: z.boolean(),
  })
  .meta({ id: 'FieldInfo' });

export const SortInfo = z.object({
  name: z.string(),
  label: z.string(),
  default: z.boolean(),
  direction: z.enum(['asc', 'desc']),
});

export const FacetValue = z
  .object({
    value: z.string(),
    label: z.string(),
    count: z.int(),
    image: ImageRef.optional(),
    selected: z.boolean(),
  })
  .meta({ id: 'FacetValue' });

export const Facet = z.object({
  field: z.string(),
  values: z.array(FacetValue),
  more: z.boolean(),
  min: z.union([z.number(), Day]).optional(),
  max: z.union([z.number(), Day]).optional(),
  isEstimate: z.boolean().optional().describe('Counted on a sample'),
});

export const IndexBucket = z
  .object({
    key: z.string(),
    label: z.string(),
    count: z.int(),
    offset: z.int(),
    cursor: z.string().nullable().describe("Before the bucket's first item; null is the list's beginning"),
  })
  .meta({ id: 'IndexBucket' });

export const TimelineBucket = z
  .object({
    key: z.string().describe('YYYY, YYYY-MM, YYYY-MM-DD, or undated'),
    count: z.int(),
    cover: ImageRef.optional(),
    cursor: z.string().nullable(),
  })
  .meta({ id: 'TimelineBucket' });

export const TimelineColumns = z
  .object({
    bucket: z.string(),
    ids: z.array(Id),
    takenAt: z.array(Timestamp.nullable()),
    aspects: z.array(z.number().nullable()),
    blurhashes: z.array(z.string().nullable()),
    imageIds: z.array(Id.nullable()),
    kinds: z.array(z.enum(['photo', 'video', 'live'])),
    durationsMs: z.array(Milliseconds.nullable()),
    favorites: z.array(z.boolean()),
  })
  .meta({ id: 'TimelineColumns', description: 'Columns of one length, at most 10,000' });

export const MapCluster = z
  .object({
    latitude: z.number(),
    longitude: z.number(),
    count: z.int(),
    itemId: Id.describe('The newest'),
    cover: ImageRef.optional(),
    bounds: z.tuple([z.number(), z.number(), z.number(), z.number()]).describe('West, south, east, north'),
  })
  .meta({ id: 'MapCluster' });

export const FolderNode = z
  .object({
    id: z.string().describe('Opaque'),
    name: z.string(),
    itemCount: z.int().describe('In it and below'),
    childFolders: z.int(),
    cover: ImageRef.optional(),
    mediaTypes: z.array(z.string()),
  })
  .meta({ id: 'FolderNode' });
export type FolderNode = z.output<typeof FolderNode>;

export const LibraryChange = z
  .object({
    seq: z.int(),
    change: z.enum(['added', 'updated', 'deleted', 'state']),
    itemId: Id,
    type: z.string().optional(),
    parentId: Id.optional(),
    fields: z.array(z.string()).optional(),
    at: Timestamp,
  })
  .meta({ id: 'LibraryChange' });
export type LibraryChange = z.output<typeof LibraryChange>;

export const FileTotals = z.object({ files: z.int(), sizeBytes: Bytes, durationMs: Milliseconds });
