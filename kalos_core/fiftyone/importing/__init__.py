"""From files to data sets: labels of objects, tables of image-level labels, folders of masks; all or nothing."""
