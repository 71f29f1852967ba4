import { z } from 'zod';
import { fieldKinds, operators } from '#kernel/filter-fields.ts';
import { Bytes, Day, Id, ImageRef, Milliseconds, Timestamp } from '#kernel/schemas.ts';
import { AirsBefore, Availability, baseType, UserState } from './items.schemas.ts';

export const MissingChild = z
  .object({
    type: z.string().meta({ example: 'movies' }),
    title: z.string().meta({ example: 'Nosferatu' }),
    parentIndex: z.int().optional(),
    index: z.int().optional(),
    releasedOn: Day.optional().meta({ example: '1922-03-04' }),
    aired: z.boolean(),
    externalIds: z.record(z.string(), z.string()),
    overview: z
      .string()
      .optional()
      .meta({ example: 'An estate agent’s clerk travels to the castle of Count Orlok, who follows him home by ship.' }),
    agent: z.string().meta({ example: 'nfo' }),
  })
  .meta({ id: 'MissingChild' });
export type MissingChild = z.output<typeof MissingChild>;

export interface TreeNode {
  id: string;
  type: string;
  baseType?: string | undefined;
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
    type: z.string().meta({ example: 'movies' }),
    baseType,
    title: z.string().meta({ example: 'Nosferatu' }),
    index: z.int().optional(),
    indexEnd: z.int().optional(),
    airsBefore: AirsBefore.optional(),
    runtimeMs: Milliseconds.optional().meta({ example: 5640000 }),
    releasedOn: Day.optional().meta({ example: '1922-03-04' }),
    userState: UserState,
    availability: Availability.optional(),
    thumb: ImageRef.optional(),
    childCount: z.int().optional(),
    truncated: z.boolean().optional().describe('The list of children is cut'),
    children: z.array(z.lazy((): z.ZodType<TreeNode, TreeNode> => TreeNode)).optional(),
  })
  .meta({ id: 'TreeNode' });

export const FieldInfo = z
  .object({
    name: z.string().meta({ example: 'Films' }),
    label: z.string().meta({ example: 'Year' }),
    kind: z.enum(fieldKinds),
    types: z.array(z.string()).meta({ example: ['movie'] }),
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
  name: z.string().meta({ example: 'title' }),
  label: z.string().meta({ example: 'Title' }),
  default: z.boolean(),
  direction: z.enum(['asc', 'desc']),
});

export const FacetValue = z
  .object({
    value: z.string().meta({ example: 'Horror' }),
    label: z.string().meta({ example: 'Horror' }),
    count: z.int().meta({ example: 12 }),
    image: ImageRef.optional(),
    selected: z.boolean(),
  })
  .meta({ id: 'FacetValue' });

export const Facet = z.object({
  field: z.string().meta({ example: 'genre' }),
  values: z.array(FacetValue),
  more: z.boolean(),
  min: z.union([z.number(), Day]).optional(),
  max: z.union([z.number(), Day]).optional(),
  isEstimate: z.boolean().optional().describe('Counted on a sample'),
});

export const IndexBucket = z
  .object({
    key: z.string().meta({ example: 'n' }),
    label: z.string().meta({ example: 'N' }),
    count: z.int().meta({ example: 12 }),
    offset: z.int(),
    cursor: z.string().nullable().describe("Before the bucket's first item; null is the list's beginning"),
  })
  .meta({ id: 'IndexBucket' });

export const TimelineBucket = z
  .object({
    key: z.string().describe('YYYY, YYYY-MM, YYYY-MM-DD, or undated').meta({ example: '1922-03' }),
    count: z.int().meta({ example: 12 }),
    cover: ImageRef.optional(),
    cursor: z.string().nullable(),
  })
  .meta({ id: 'TimelineBucket' });

export const TimelineColumns = z
  .object({
    bucket: z.string().meta({ example: '1922-03' }),
    ids: z.array(Id),
    takenAt: z.array(Timestamp.nullable()),
    aspects: z.array(z.number().nullable()),
    blurhashes: z.array(z.string().nullable()),
    imageIds: z.array(Id.nullable()),
    kinds: z.array(z.enum(['photo', 'video', 'live'])),
    durationsMs: z.array(Milliseconds.nullable()),
    favorites: z.array(z.boolean()),
    next: z.string().optional().describe('Cursor of the rest of a bucket of more than 10,000 items'),
  })
  .meta({ id: 'TimelineColumns', description: 'Columns of one length, at most 10,000' });

export const MapCluster = z
  .object({
    latitude: z.number(),
    longitude: z.number(),
    count: z.int().meta({ example: 12 }),
    itemId: Id.describe('The newest'),
    cover: ImageRef.optional(),
    bounds: z.tuple([z.number(), z.number(), z.number(), z.number()]).describe('West, south, east, north'),
  })
  .meta({ id: 'MapCluster' });

export const FolderNode = z
  .object({
    id: z.string().describe('Opaque').meta({ example: 'RmlsbXM' }),
    name: z.string().meta({ example: 'Films' }),
    itemCount: z.int().describe('In it and below'),
    childFolders: z.int(),
    cover: ImageRef.optional(),
    mediaTypes: z.array(z.string()).meta({ example: ['video'] }),
  })
  .meta({ id: 'FolderNode' });
export type FolderNode = z.output<typeof FolderNode>;

export const LibraryChange = z
  .object({
    seq: z.int(),
    change: z.enum(['added', 'updated', 'deleted', 'state']),
    itemId: Id,
    type: z.string().optional().meta({ example: 'movies' }),
    parentId: Id.optional(),
    fields: z.array(z.string()).optional(),
    at: Timestamp,
  })
  .meta({ id: 'LibraryChange' });
export type LibraryChange = z.output<typeof LibraryChange>;

export const FileTotals = z.object({
  files: z.int(),
  sizeBytes: Bytes.meta({ example: 4294967296 }),
  durationMs: Milliseconds.meta({ example: 5640000 }),
});
