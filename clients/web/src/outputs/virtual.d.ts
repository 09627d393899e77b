/** The address of the script that draws widgets in the frame (widgets.ts beside the configuration of Vite). */
declare module "virtual:widgets" {
  const address: string;
  export default address;
}
