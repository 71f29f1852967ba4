export const load = ({ params }: { params: { channelId: string } }): { channelId: string } => ({
  channelId: params.channelId,
});
