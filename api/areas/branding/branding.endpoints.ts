import { may } from '#identity/principal.ts';
import { bytes, type Call, defineEndpoint, json, none } from '#kernel/endpoint.ts';
import { notFound } from '#kernel/errors.ts';
import { knowsEtag } from '#kernel/etag.ts';
import { limitHere } from '#kernel/rate-limit.ts';
import { addressGroup } from '#kernel/request.ts';
import { uploaded } from '#kernel/uploads.ts';
import {
  Branding,
  BrandingChange,
  ChangedBranding,
  type Kind,
  kinds,
  LogoParams,
  LogoQuery,
  NewLogoQuery,
  type Scheme,
  schemes,
} from './branding.schemas.ts';
import { etagOf, toBranding } from './branding.view.ts';
import { answerBranding, changeTexts, warningsOf } from './change.ts';
import { LOGO_BYTES, LOGO_MEDIA } from './logo-intake.ts';
import { brandOf } from './memory.ts';
import { serveLogo } from './serve-logo.ts';
import { removeLogo, setLogo } from './set-logo.ts';

const access = { permission: 'settings:manage' } as const;
const because = 'the sign-in page shows it before anyone signs in; it contains only what an admin entered here';
const PER_MINUTE = 300;

function limit({ client }: Call): void {
  limitHere(`branding:${addressGroup(client.address)}`, PER_MINUTE);
}

/** Throws NOT_FOUND unless the path names a logo. */
function placeOf({ kind, scheme }: { kind: string; scheme: string }): { kind: Kind; scheme: Scheme } {
  const place = { kind: kinds.find((one) => one === kind), scheme: schemes.find((one) => one === scheme) };
  if (!place.kind || !place.scheme) throw notFound();
  return { kind: place.kind, scheme: place.scheme };
}

export const getBranding = defineEndpoint({
  operationId: 'getBranding',
  method: 'get',
  path: '/branding',
  summary: 'Get the name, colours, texts and logos',
  description:
    'Public, because the sign-in page needs it; it also works before setup and while the server starts. A logo that is set for one scheme serves the other scheme until that has its own; without any the built-in logo serves. The answer carries an ETag.',
  access: { anyone: true, because },
  beforeReady: true,
  answer: json(200, Branding),
  errors: ['RATE_LIMITED'],

  async handle(_input, call) {
    limit(call);
    const brand = await brandOf(call.deps).current();
    const who = brand.declared.fields.length > 0 ? await call.identify() : undefined;
    const branding = toBranding(brand, call.deps, { owned: who !== undefined && may(who, 'settings:manage') });
    const etag = etagOf(branding);
    call.reply.header('ETag', etag);
    call.reply.header('Cache-Control', who ? 'private, no-cache' : 'no-cache');
    if (knowsEtag(call.headers['if-none-match'], etag)) call.reply.status(304);
    return branding;
  },
});

export const updateBranding = defineEndpoint({
  operationId: 'updateBranding',
  method: 'patch',
  path: '/branding',
  summary: 'Update colours, texts and the loading animation',
  description:
    "Only the given fields change; null clears a colour or a text. Colours with a contrast below 3 to 1 are accepted and reported in `warnings`. Fields that the MediaServer resource declares are refused with 409 `managed-by-resource`. The server's name is the setting `server.name`.",
  access,
  body: BrandingChange,
  answer: json(200, ChangedBranding),
  errors: ['CONFLICT'],
  emits: ['settings.changed'],
  transaction: 'manual',

  async handle({ body }, call) {
    await changeTexts(call, body);
    const branding = await answerBranding(call);
    return { ...branding, warnings: warningsOf(branding) };
  },
});

export const getBrandingLogo = defineEndpoint({
  operationId: 'getBrandingLogo',
  method: 'get',
  path: '/branding/:kind/:scheme',
  summary: 'Get a logo as an image',
  description:
    'Without `format` the Accept header decides, and WebP is the default. `square` pads the logo with the background colour for app icons. With the current image version in `v` the answer is immutable for a year; otherwise it must be revalidated by its ETag. While the stored logo is unavailable the built-in one is served with `no-store`.',
  access: { anyone: true, because },
  beforeReady: true,
  params: LogoParams,
  query: LogoQuery,
  answer: bytes('image/webp', 'image/png', 'image/avif'),
  errors: ['NOT_FOUND', 'RATE_LIMITED'],

  async handle({ params, query }, call) {
    limit(call);
    return serveLogo(call, placeOf(params), query);
  },
});

export const setBrandingLogo = defineEndpoint({
  operationId: 'setBrandingLogo',
  method: 'put',
  path: '/branding/:kind/:scheme',
  summary: 'Upload a logo',
  description:
    'Replaces the logo of this kind and scheme; uploading the same bytes again changes nothing. Accepts PNG, JPEG, WebP, AVIF, GIF and SVG of at most 5 MiB. An SVG is converted to pixels and its text is not drawn, so convert letters to outlines first. The main logo keeps the first frame of an animation only.',
  access,
  params: LogoParams,
  query: NewLogoQuery,
  body: uploaded,
  bodyMedia: LOGO_MEDIA,
  maxBodyBytes: LOGO_BYTES,
  answer: json(200, Branding),
  errors: ['NOT_FOUND', 'CONFLICT', 'MEDIA_UNSUPPORTED_CODEC'],
  emits: ['settings.changed'],
  transaction: 'manual',

  async handle({ params, query, body }, call) {
    await setLogo(call, placeOf(params), { upload: body, alt: query.alt });
    return answerBranding(call);
  },
});

export const deleteBrandingLogo = defineEndpoint({
  operationId: 'deleteBrandingLogo',
  method: 'delete',
  path: '/branding/:kind/:scheme',
  summary: 'Delete a logo',
  description:
    'The logo of the other scheme or the built-in logo is served instead. Deleting a logo that is not set has no effect.',
  access,
  params: LogoParams,
  answer: none(),
  errors: ['NOT_FOUND', 'CONFLICT'],
  emits: ['settings.changed'],
  transaction: 'manual',

  async handle({ params }, call) {
    await removeLogo(call, placeOf(params));
  },
});
