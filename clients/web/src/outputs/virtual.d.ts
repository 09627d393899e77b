/** Address of the frame's widget script (widgets.ts beside Vite's configuration). */
declare module "virtual:widgets" {
  const address: string;
  export default address;
}
